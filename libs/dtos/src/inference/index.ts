export * from './models.dto';
export * from './settings.dto';
