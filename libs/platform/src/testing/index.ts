export * from './certificate';
export * from './http-caller';
export * from './test-database';
export * from './signed-delivery';
export * from './smtp-server';
export * from './sql';
export * from './watch-errors';
export * from './eventually';
