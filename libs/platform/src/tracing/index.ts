export * from './spans';
export * from './start';
export * from './tracing.config';
