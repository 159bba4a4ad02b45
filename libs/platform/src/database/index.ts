export { alreadyCommitted, batchStatement, type Ahead, type BatchStatement } from './batch';
export * from './database';
export * from './database.config';
export * from './database.module';
export * from './errors';
export * from './lists';
export * from './one-by-one';
export { sessionLimits, storeLimits } from './sessions';
export { statement, type Statement } from './statement';
