import { Global, Module } from '@nestjs/common';
import { RolloutChats } from '@aps/agents';
import { ArmChats } from '@aps/rollouts';
import { ChatsOfArms } from './arm-chats.queries';
import { ChatsOfRollouts } from './rollout-chats.queries';

/** Binds the ports of agents and rollouts, which stand below chats. */
@Global()
@Module({
  providers: [
    { provide: RolloutChats, useClass: ChatsOfRollouts },
    { provide: ArmChats, useClass: ChatsOfArms },
  ],
  exports: [RolloutChats, ArmChats],
})
export class RolloutChatsModule {}
