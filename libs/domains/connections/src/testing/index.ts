export * from './beside-tools';
export * from './connections';
export * from './managed';
