export * from './broadcasts';
export * from './errors';
export * from './jobs';
export * from './realtime';
