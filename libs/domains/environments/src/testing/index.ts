export * from './environments';
export * from './machine-socket';
export * from '../images/testing/registry';
