export * from './entitle';
export * from './plans';
