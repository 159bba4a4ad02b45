export { MAX_CURSOR_CHARS } from './cursor';
export * from './hub';
export * from './publisher';
export * from './realtime.module';
export * from './event-log';
export { appendEvent, appendEvents } from './event-log.sql';
export * from './sse';
export type { Snapshot, StreamTopic } from './stream';
