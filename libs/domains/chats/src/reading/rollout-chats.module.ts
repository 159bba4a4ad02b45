import { Global, Module } from '@nestjs/common';
import { RolloutChats } from '@aps/agents';
import { ChatsOfRollouts } from './rollout-chats.queries';

/** Binds the port of agents, which stand below chats. */
@Global()
@Module({ providers: [{ provide: RolloutChats, useClass: ChatsOfRollouts }], exports: [RolloutChats] })
export class RolloutChatsModule {}
