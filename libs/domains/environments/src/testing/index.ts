export * from './environments';
export * from './machine-socket';
export * from './relay';
