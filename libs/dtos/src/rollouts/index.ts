export * from './experiment.dto';
