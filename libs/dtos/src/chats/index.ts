export * from './chat.dtos';
export * from './control.dtos';
export * from './cost.dtos';
export * from './hitl.dtos';
export * from './realtime.dtos';
export * from './timeline.dtos';
export * from './toggles.dtos';
export * from './stream.dtos';
