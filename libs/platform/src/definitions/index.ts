export * from './canonical-json';
export * from './definition-reader';
export * from './pattern';
