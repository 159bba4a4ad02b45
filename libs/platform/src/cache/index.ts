export * from './view-cache';
