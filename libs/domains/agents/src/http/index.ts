export * from './agents-http.module';
export { BY_AGENT, BY_PLAIN_AGENT } from './params';
export { toRollout } from './agents.convert';
