export * from './authorization-servers';
export * from './browser-cookie';
export * from './metadata';
