import { Injectable } from '@nestjs/common';
import { ChatsQueries } from '@aps/chats';
import { listTally, ProcessAgentCall, ProcessLlmCall, ProcessRepair } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, OrgTable, type Listed, type Slice } from '@aps/platform/database';
import { RunsQueries } from './runs.queries';

/** A call without what is long, which is read one by one. */
export type LlmCallIndex = Omit<ProcessLlmCall, 'request_messages' | 'response_messages' | 'tools' | 'error'>;
export type AgentCallIndex = Omit<ProcessAgentCall, 'messages' | 'result'>;
export type RepairIndex = Omit<ProcessRepair, 'request' | 'response'>;

interface OfRun {
  run_id: string;
}

const ofRun = (table: string, columns: string) => ({
  key: 'c.id',
  org: 'c.org_id',
  select: `c.id, c.org_id, c.run_id, c.step_id, c.path, c.tokens, c.cost_usd, c.cost_credits, c.created_at, ${columns}`,
  from: `${table} c`,
  where: { run_id: 'c.run_id = $' },
  tally: { from: listTally(table), where: { run_id: 't.of_id = $' } },
  order: 'c.id',
});
const LLM_CALLS = new OrgListing<LlmCallIndex, OfRun>(
  ofRun('process_llm_calls', 'c.model_requested, c.model_resolved, c.route, c.duration_ms, c.status'),
);
const AGENT_CALLS = new OrgListing<AgentCallIndex, OfRun>(
  ofRun('process_agent_calls', 'c.kind, c.chat_id, c.turn_id, c.turn_no, c.status'),
);
const REPAIRS = new OrgListing<RepairIndex, OfRun>(
  ofRun('process_repairs', 'c.tool_slug, c.attempt, c.error, c.fixable, c.reason, c.payload_diff'),
);

/** Reads the ledgers of runs, oldest first: an index of each, and its rows one by one. Never writes. */
@Injectable()
export class CallsQueries {
  private readonly llm = new OrgTable(ProcessLlmCall, 'Call');
  private readonly agent = new OrgTable(ProcessAgentCall, 'Call');
  private readonly mends = new OrgTable(ProcessRepair, 'Repair');

  constructor(
    private readonly db: Database,
    private readonly runs: RunsQueries,
    private readonly chats: ChatsQueries,
  ) {}

  /** @throws DomainError `not_found`, as of all below */
  async llmCalls(scope: OrgScope, processId: string, runId: string, slice: Slice): Promise<Listed<LlmCallIndex>> {
    await this.runs.standing(scope, processId, runId);
    return LLM_CALLS.page(this.db, scope, { run_id: runId }, slice);
  }

  async llmCall(scope: OrgScope, processId: string, runId: string, id: string): Promise<ProcessLlmCall> {
    await this.runs.standing(scope, processId, runId);
    return this.llm.get(this.db, scope, { id, run_id: runId });
  }

  async agentCalls(scope: OrgScope, processId: string, runId: string, slice: Slice): Promise<Listed<AgentCallIndex>> {
    await this.runs.standing(scope, processId, runId);
    return AGENT_CALLS.page(this.db, scope, { run_id: runId }, slice);
  }

  async agentCall(scope: OrgScope, processId: string, runId: string, id: string): Promise<ProcessAgentCall> {
    await this.runs.standing(scope, processId, runId);
    const call = await this.agent.get(this.db, scope, { id, run_id: runId });
    // What was said in a turn its chat keeps, and loses with it.
    return call.turn_id === null ? call : { ...call, messages: await this.chats.saidIn(scope, call.turn_id) };
  }

  async repairs(scope: OrgScope, processId: string, runId: string, slice: Slice): Promise<Listed<RepairIndex>> {
    await this.runs.standing(scope, processId, runId);
    return REPAIRS.page(this.db, scope, { run_id: runId }, slice);
  }

  async repair(scope: OrgScope, processId: string, runId: string, id: string): Promise<ProcessRepair> {
    await this.runs.standing(scope, processId, runId);
    return this.mends.get(this.db, scope, { id, run_id: runId });
  }
}
