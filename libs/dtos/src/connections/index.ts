export * from './catalog.dto';
export * from './connection.dto';
export * from './tool-sources.dto';
