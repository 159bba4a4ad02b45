export * from './hub';
export * from './publisher';
export * from './realtime.module';
export * from './spine';
export * from './sse';
