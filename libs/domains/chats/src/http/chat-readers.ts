import { Injectable } from '@nestjs/common';
import { ChatsQueries } from '@aps/chats';
import { DomainError } from '@aps/contracts';
import { PrincipalStore } from '@aps/guards';
import type { Permission } from '@aps/platform/realtime';

/** Who follows a chat, and by which token. */
export interface ChatReader {
  token: string;
  orgId: string;
  userId: string;
  agentId: string;
  chatId: string;
}

/** Decides, for all open streams at once, who may go on reading. */
@Injectable()
export class ChatReaders {
  constructor(
    private readonly principals: PrincipalStore,
    private readonly queries: ChatsQueries,
  ) {}

  /** Bound once: streams that share the function are asked about together. */
  readonly stillAllowed = async (readers: ChatReader[]): Promise<Permission[]> => {
    // Tokens and memberships repeat among readers and are remembered for a second.
    const standings = await Promise.all(readers.map((reader) => this.standingOf(reader)));
    const visible = await this.queries.visibleAmong(readers);
    return standings.map((standing, i) => (standing === 'yes' && !visible[i] ? 'no' : standing));
  };

  private async standingOf({ token, orgId }: ChatReader): Promise<Permission> {
    try {
      const principal = await this.principals.byToken(token);
      const membership = await this.principals.membership(orgId, principal.userId);
      if (!membership) return 'no';
      return membership.suspended && !principal.isPlatformAdmin ? 'org_suspended' : 'yes';
    } catch (error) {
      if (error instanceof DomainError) return 'no';
      throw error;
    }
  }
}
