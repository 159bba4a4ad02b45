export * from './broadcasts';
export * from './errors';
export * from './ids';
export * from './jobs';
export * from './models';
export * from './realtime';
export * from './slugs';
export * from './token-areas';
