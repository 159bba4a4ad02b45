export * from './administration-http.module';
export * from './internal.authenticator';
