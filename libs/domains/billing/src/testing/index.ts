export * from './entitle';
export * from './deliveries';
export * from './local-provider';
export * from './plans';
export * from './credits';
export * from './ledger-model';
