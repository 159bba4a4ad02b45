import { Agent, AgentRevision, Chat, InferenceReceipt, Turn } from '@aps/entities';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

/** Writes rows that usage is made of, without the domains that make them. */
export class UsageSeeds {
  constructor(
    private readonly service: TestService,
    private readonly orgId: string,
  ) {}

  async agent(name: string): Promise<Pick<Chat, 'agent_id' | 'agent_revision_id'>> {
    const agent_id = await this.service.insert(Agent, { org_id: this.orgId, slug: name.toLowerCase(), name });
    const revision = { org_id: this.orgId, agent_id, version: 1, hash: 'h', config: {} };
    return { agent_id, agent_revision_id: await this.service.insert(AgentRevision, revision) };
  }

  chat(agent: Pick<Chat, 'agent_id' | 'agent_revision_id'>, created_at: Date): Promise<string> {
    return this.service.insert(Chat, { org_id: this.orgId, ...agent, origin_kind: 'user', created_at });
  }

  async turn(chatId: string, seq: number, dispatched_at: Date, status: Turn['status'] = 'done'): Promise<void> {
    await this.service.insert(Turn, { org_id: this.orgId, chat_id: chatId, seq, status, cause: 'message', dispatched_at });
  }

  async receipt(created_at: Date, row: Partial<InferenceReceipt>): Promise<void> {
    const tokens = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
    const call = { feature: 'turn', model_key: 'mock-large', resolve_reason: 'requested', route_id: uuidv7(), duration_ms: 1 };
    await this.service.insert(InferenceReceipt, { org_id: this.orgId, created_at, ...call, ...tokens, ...row });
  }
}
