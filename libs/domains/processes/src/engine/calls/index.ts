export { Calls } from './calls';
export type { CallResult } from './call-result';
