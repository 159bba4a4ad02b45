export * from './administration-http.module';
export * from './internal.authenticator';
export { GatewayAuthenticator, QueuePageSessionModule } from './queue-page.session';
