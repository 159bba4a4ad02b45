export * from './inference-http.module';
export { toCatalogEntry } from './models.convert';
