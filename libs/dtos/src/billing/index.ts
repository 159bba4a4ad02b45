export * from './credits.dto';
export * from './entitlements.dto';
