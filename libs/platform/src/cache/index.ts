export * from './view-cache';
export * from './weighted-lru';
