export * from './organizations';
