export * from './entitle';
