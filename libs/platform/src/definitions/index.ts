export * from './definition-hash';
export * from './definition-reader';
export * from './pattern';
