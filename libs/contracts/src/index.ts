export * from './broadcasts';
export * from './errors';
export * from './ids';
export * from './jobs';
export * from './realtime';
export * from './slugs';
