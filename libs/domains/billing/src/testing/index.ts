export * from './entitle';
export * from './plans';
export * from './credits';
export * from './ledger-model';
