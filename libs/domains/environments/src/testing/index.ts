export * from './environments';
