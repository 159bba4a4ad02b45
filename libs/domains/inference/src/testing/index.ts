export { ModelCalls } from '../model-calls.service';
export * from './catalog';
