export * from './administration';
export * from './agents';
export * from './chats';
export * from './decisions';
export * from './files';
export * from './identity';
export * from './inference';
export * from './orgs';
