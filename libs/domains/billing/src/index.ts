export * from './billing.module';
export * from './blockers';
export * from './entitlements';
export * from './entitlements.config';
