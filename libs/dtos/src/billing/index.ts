export * from './deliveries.dto';
export * from './credits.dto';
export * from './entitlements.dto';
export * from './packs.dto';
export * from './plans.dto';
export * from './rate-cards.dto';
export * from './self-serve.dto';
