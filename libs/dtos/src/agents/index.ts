export * from './agent.dto';
export * from './instruction.dto';
export * from './memory.dto';
export * from './revision.dto';
export * from './rollout.dto';
export * from './skill.dto';
