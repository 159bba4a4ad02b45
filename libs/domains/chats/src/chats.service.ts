import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { notFound, refuseField, type ModelMode } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { ChatRow } from './state/chat.types';
import { ChatState } from './state/chat-state.repository';

export interface NewChat {
  title?: string | null;
  environment_id?: string | null;
  sandbox_enabled?: boolean | null;
  model_mode_override?: ModelMode | null;
}

/** Opens chats. What is done to them afterwards is in SendService and in `control/`. */
@Injectable()
export class ChatsService {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatState,
    private readonly agents: AgentsQueries,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Opens a chat on the agent's live revision, which it keeps.
   *
   * @throws DomainError 404 for an unknown agent; 422 for a mode where the organization chooses models itself
   */
  async create(scope: OrgScope, agentId: string, input: NewChat): Promise<ChatRow> {
    const chat = await this.db.transaction(scope, async (tx) => {
      const id = uuidv7();
      const originator = scope.actor.userId;
      const live = await this.agents.forNewChat(tx, scope, agentId, { chat_id: id, originator });
      if (!live) throw notFound('Agent');
      if (input.model_mode_override && (await this.entitlements.of(scope.orgId, tx)).direct_model_choice) {
        throw refuseField('plan_mismatch', ['model_mode_override'], 'This organization chooses models directly; modes do not apply.');
      }
      // Environments come with their own domain; until then no id can be one of this organization's.
      if (input.environment_id) throw refuseField('unknown_reference', ['environment_id'], 'There is no such environment.');
      return this.chats.insert(tx, live, {
        id,
        org_id: scope.orgId,
        title: input.title,
        created_by: originator,
        sandbox_enabled: input.sandbox_enabled,
        model_mode_override: input.model_mode_override,
        origin_kind: 'user',
        originator,
        created_at: this.db.now(),
      });
    });
    return { ...chat, model_mode_override: input.model_mode_override ?? null };
  }
}
