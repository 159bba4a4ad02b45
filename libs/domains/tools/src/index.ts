export * from './deadline';
export * from './decision-mode';
export * from './fitting';
export * from './tool';
export * from './tool-catalog';
export * from './tools.module';
