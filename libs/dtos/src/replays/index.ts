export * from './replay.dto';
export * from './draft-check.dto';
export * from './simulation.dto';
