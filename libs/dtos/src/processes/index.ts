export * from './call.dto';
export * from './process.dto';
export * from './review.dto';
export * from './revision.dto';
export * from './run.dto';
export * from './schedule.dto';
export * from './values';
