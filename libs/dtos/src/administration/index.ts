export * from './audit.dto';
export * from './diagnosis.dto';
export * from './operators.dto';
export * from './orgs.dto';
export * from './subscriptions.dto';
export * from './usage.dto';
export * from './users.dto';
export * from './workers.dto';
