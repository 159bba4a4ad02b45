export * from './outbox';
export * from './outbox.module';
export * from './relay';
