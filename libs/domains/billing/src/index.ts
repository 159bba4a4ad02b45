export * from './billing.module';
export * from './blockers';
export * from './entitlements';
export * from './entitlements.config';
export * from './ledger/ledger.repository';
export * from './subscriptions/subscriptions.repository';
export * from './subscriptions/subscriptions.service';
