export * from './crypto.config';
export * from './crypto.module';
export * from './envelope';
export * from './internal-token';
export * from './mask';
export * from './passwords';
export * from './tokens';
