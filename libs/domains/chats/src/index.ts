export * from './chat.types';
export * from './chats.module';
export { ChatsQueries } from './chats.queries';
export { ChatsService, type NewChat, type StopResult } from './chats.service';
export { SendService, type MessageInput, type SendResult } from './send.service';
export { Leases } from './turns/leases';
export { TitleService } from './turns/title.service';
export { TurnRunner } from './turns/turn-runner';
