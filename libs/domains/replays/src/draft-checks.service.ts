import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AgentsQueries, InstructionsService } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { notFound } from '@aps/contracts';
import { Replay, type ReplayEstimate } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import { Database, mapListed, OrgTable, type Listed } from '@aps/platform/database';
import type { CheckedDecision, ReplayedDecision, Verdict } from './replay.policy';
import { ReplayStarts, type NewReplay } from './replay-starts.service';
import { ReplaysRepository } from './replays.repository';
import { AGREED, BY_IDS, CHECK_TOTALS, DISPUTED, type CheckTotals, type FoundDecision } from './replays.sql';

/** Disputes of one check. */
const MAX_DISPUTES = 200;
const GUARDS = 20;

export interface DraftCheckInput {
  decision_ids?: string[];
  guard_sample?: number;
  judge_model?: string;
}

/** What came of a case; null while it has not been played again. */
export interface CheckResult {
  now: ReplayedDecision | null;
  judged_by: 'kind' | 'model' | null;
  error: { code: string; message: string } | null;
}

export interface CheckedCase extends CheckedDecision {
  chat_id: string;
  result: CheckResult | null;
  verdict: Verdict | null;
}

export type DraftCheck = Replay & { draft_sha256: string; totals: CheckTotals };

/** Checks of an instruction draft against what humans thought of decisions. */
@Injectable()
export class DraftChecks {
  private readonly replays = new OrgTable(Replay, 'Check');

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly instructions: InstructionsService,
    private readonly catalog: ModelCatalog,
    private readonly entitlements: Entitlements,
    private readonly starts: ReplayStarts,
    private readonly repository: ReplaysRepository,
  ) {}

  /** @throws DomainError as {@link ReplayStarts.start}; 404 for decisions that the caller may not see, and without a draft; 403 and 422 of a judge */
  async start(scope: OrgScope, agentRef: string, input: DraftCheckInput): Promise<Replay> {
    return this.starts.start(scope, await this.found(scope, agentRef, input));
  }

  /** @throws DomainError as {@link start} */
  async quote(scope: OrgScope, agentRef: string, input: DraftCheckInput): Promise<ReplayEstimate> {
    return this.starts.estimate(scope, await this.found(scope, agentRef, input));
  }

  /** Of one that is over nothing changes. @throws DomainError 404; 403 `insufficient_role` for another one's */
  async cancel(scope: OrgScope, agentRef: string, id: string) {
    return this.starts.cancel(scope, await this.agents.idOf(scope, agentRef), 'draft_check', id);
  }

  /** Cases of chats that the caller may not open are not there. @throws DomainError `not_found` */
  async get(scope: OrgScope, agentRef: string, id: string): Promise<{ check: DraftCheck; cases: Listed<CheckedCase> }> {
    const agent_id = await this.agents.idOf(scope, agentRef);
    const replay = await this.replays.get(this.db, scope, { agent_id, id, kind: 'draft_check' });
    const [totals] = await this.db.query(CHECK_TOTALS, [scope.orgId, id, scope.actor.userId]);
    const cases = await mapListed(await this.repository.items(scope, id), (some) =>
      some.map(({ decision, chat_id, result, verdict }) => ({
        ...(decision as unknown as CheckedDecision),
        ...{ chat_id, result: result as CheckResult | null, verdict: verdict as Verdict | null },
      })),
    );
    return { check: { ...replay, draft_sha256: sha256(replay.config.instruction as string), totals }, cases };
  }

  private async found(
    scope: OrgScope,
    agentRef: string,
    { decision_ids, guard_sample = GUARDS, judge_model }: DraftCheckInput,
  ): Promise<NewReplay> {
    if (!(await this.instructions.get(scope, agentRef)).draft) throw notFound('Instruction draft');
    if (judge_model) {
      await this.entitlements.require(scope.orgId, 'direct_model_choice');
      await this.catalog.assertKnownChatModel(this.db, scope, judge_model, 'chat', 'judge_model');
    }
    const of = (await this.starts.configOf(scope, agentRef, {}))!;
    const reader = [scope.orgId, of.agent.id, scope.userId];
    const ids = decision_ids && [...new Set(decision_ids)];
    const named = ids && (await this.db.query(BY_IDS, [...reader, ids]));
    if (named && named.length < ids.length) throw notFound('Decision');
    const [disputed, agreed] = await Promise.all([
      named ? named.filter(isDisputed) : this.db.query(DISPUTED, [...reader, MAX_DISPUTES]),
      this.db.query(AGREED, [...reader, guard_sample]),
    ]);
    const cases = [...disputed.map(caseOf('regression')), ...agreed.map(caseOf('guard'))];
    const judged = disputed.filter(({ should_have_kind }) => !should_have_kind).length;
    const turnIds = cases.map(({ decision }) => decision.turn_id);
    return {
      kind: 'draft_check',
      ...of,
      items: cases.map(({ chat_id, decision }) => ({ chat_id, decision: { ...decision } })),
      turnIds,
      furtherCalls: judged,
      judge_model,
    };
  }
}

const isDisputed = ({ review_status, should_have }: FoundDecision) => review_status === 'disputed' && should_have !== null;

const caseOf =
  (set: CheckedDecision['set']) =>
  ({ id, chat_id, review_status: _, ...decision }: FoundDecision): { chat_id: string; decision: CheckedDecision } => ({
    chat_id,
    decision: { ...decision, decision_id: id, set },
  });

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
