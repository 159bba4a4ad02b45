export * from './chats';
export * from './event-streams';
