export * from './environments';
export * from './machine-socket';
export * from './relay';
export * from '../images/testing/registry';
