export * from './inboxes';
