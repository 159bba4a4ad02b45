export * from './environment.dto';
export * from './daemon.dto';
