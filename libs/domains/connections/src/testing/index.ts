export * from './beside-tools';
export * from './connections';
