import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { Entitlements, requireModes } from '@aps/billing';
import { notFound, refuseField, type ModelMode } from '@aps/contracts';
import { EnvironmentsQueries } from '@aps/environments';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { uuidv7 } from 'uuidv7';
import { ChatsQueries } from './reading/chats.queries';
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
    private readonly environments: EnvironmentsQueries,
    private readonly queries: ChatsQueries,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * Opens a chat on the agent's live revision, which it keeps.
   *
   * @param attempt knows of the chat that the same has opened before, if nobody heard of it
   * @throws DomainError 404 for an unknown agent; 422 for a mode where the organization chooses models itself, and for an environment that is none
   */
  async create(scope: OrgScope, agentId: string, input: NewChat, attempt?: Attempt): Promise<ChatRow> {
    if (attempt?.resourceId) return this.queries.get(scope, agentId, attempt.resourceId);
    const chat = await this.db.transaction(scope, async (tx) => {
      const id = uuidv7();
      const originator = scope.actor.userId;
      const live = await this.agents.forNewChat(tx, scope, agentId, { chat_id: id, originator });
      if (!live) throw notFound('Agent');
      if (input.model_mode_override) requireModes(await this.entitlements.of(scope.orgId, tx), 'model_mode_override');
      if (input.environment_id && !(await this.environments.holds(tx, scope, input.environment_id)))
        throw refuseField('unknown_reference', ['environment_id'], 'There is no such environment.');
      if (attempt) await this.idempotency.attach(tx, attempt, id);
      return this.chats.insert(tx, live, {
        id,
        org_id: scope.orgId,
        title: input.title,
        environment_id: input.environment_id,
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
