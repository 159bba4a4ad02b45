export * from './models.dto';
export * from './platform-catalog.dto';
export * from './platform-settings.dto';
export * from './provider-settings.dto';
export * from './settings.dto';
