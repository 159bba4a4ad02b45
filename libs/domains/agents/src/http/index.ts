export * from './agents-http.module';
export { BY_AGENT } from './params';
