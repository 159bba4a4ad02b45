export * from './extraction/extracted';
