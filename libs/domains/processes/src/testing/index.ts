export * from './processes';
export * from './tools';
