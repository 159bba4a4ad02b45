export * from './egress';
export * from './egress.config';
export { isPublicAddress, urlOf } from './address';
export { jsonOf, MAX_REDIRECTS, type EgressRequest, type EgressResponse } from './fetch';
export { EgressError, type EgressPurpose, type EgressReason, type Resolve } from './policy';
export type { FetchLike } from './streaming-fetch';
