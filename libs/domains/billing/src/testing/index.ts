export * from './entitle';
export * from './plans';
export * from './credits';
