export * from './schema';
export { pointedAt } from './schema.walk';
