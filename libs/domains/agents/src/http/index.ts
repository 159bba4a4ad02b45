export * from './agents-http.module';
export { ApiAgentPath, BY_AGENT } from './params';
