export * from './canonical-json';
export * from './definition-reader';
export * from './json';
export * from './oversize';
export * from './pattern';
