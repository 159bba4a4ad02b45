export * from './experiment.dto';
export * from './results.dto';
