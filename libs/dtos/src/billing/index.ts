export * from './credits.dto';
export * from './entitlements.dto';
export * from './rate-cards.dto';
