export { Calls } from './calls';
export type { CallHold, CallResult } from './call-result';
