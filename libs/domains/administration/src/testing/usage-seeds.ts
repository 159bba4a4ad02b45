import { Agent, AgentRevision, Chat, InferenceReceipt, Turn } from '@aps/entities';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

/** Writes rows that usage is made of, without the domains that make them. */
export class UsageSeeds {
  constructor(
    private readonly service: TestService,
    private readonly orgId: string,
  ) {}

  async agent(name: string): Promise<{ id: string; revisionId: string }> {
    const [id, revisionId] = [uuidv7(), uuidv7()];
    await this.service.insert(Agent, { id, org_id: this.orgId, slug: name.toLowerCase(), name });
    await this.service.insert(AgentRevision, { id: revisionId, org_id: this.orgId, agent_id: id, version: 1, hash: 'h', config: {} });
    return { id, revisionId };
  }

  async chat(agent: { id: string; revisionId: string }, created_at: Date): Promise<string> {
    const id = uuidv7();
    await this.service.insert(Chat, {
      id,
      org_id: this.orgId,
      agent_id: agent.id,
      agent_revision_id: agent.revisionId,
      origin_kind: 'user',
      created_at,
    });
    return id;
  }

  async turn(chatId: string, seq: number, dispatched_at: Date, status: Turn['status'] = 'done'): Promise<void> {
    await this.service.insert(Turn, { id: uuidv7(), org_id: this.orgId, chat_id: chatId, seq, status, cause: 'message', dispatched_at });
  }

  async receipt(created_at: Date, row: Partial<InferenceReceipt>): Promise<void> {
    const tokens = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
    const call = { feature: 'turn', model_key: 'mock-large', resolve_reason: 'requested', route_id: uuidv7(), duration_ms: 1 };
    await this.service.insert(InferenceReceipt, { id: uuidv7(), org_id: this.orgId, created_at, ...call, ...tokens, ...row });
  }
}
