export * from './client';
export * from './persist';
export * from './platform';
export * from './process';
export * from './servers';
export * from './sse';
export * from './until';
