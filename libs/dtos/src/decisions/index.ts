export * from './decision.dto';
