export * from './canonical-json';
export * from './definition-reader';
export * from './oversize';
export * from './json';
export * from './pattern';
