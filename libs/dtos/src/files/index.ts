export * from './file.dto';
