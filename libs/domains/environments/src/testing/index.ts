export * from './environments';
export * from '../images/testing/registry';
