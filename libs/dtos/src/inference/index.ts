export * from './catalog.dto';
export * from './models.dto';
export * from './own-routes.dto';
export * from './platform-routes.dto';
export * from './platform-settings.dto';
export * from './provider-settings.dto';
export * from './settings.dto';
