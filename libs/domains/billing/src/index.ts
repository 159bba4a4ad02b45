export * from './billing.module';
export * from './entitlements';
export * from './entitlements.config';
