export * from './catalog.dto';
export * from './connection.dto';
