export * from './administration';
export * from './agents';
export * from './chats';
export * from './common';
export * from './identity';
export * from './inference';
export * from './orgs';
