export * from './chat.dto';
export * from './control.dto';
export * from './cost.dto';
export * from './hitl.dto';
export * from './realtime.dto';
export * from './timeline.dto';
export * from './toggles.dto';
export * from './stream.dto';
