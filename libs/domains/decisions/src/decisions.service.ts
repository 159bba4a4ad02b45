import { Injectable } from '@nestjs/common';
import { AgentsQueries, InstructionsService, type AmendedInstruction } from '@aps/agents';
import { DomainError, invalid } from '@aps/contracts';
import { Decision, type DecisionKind, type ReviewStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Tx } from '@aps/platform/database';
import { withCorrection } from './corrections.policy';
import { DecisionsQueries, type DecisionFilter } from './decisions.queries';
import { DecisionsRepository, type BulkAction } from './decisions.repository';

/** Which decisions: these, or those that a filter finds. Exactly one of the two. */
export interface BulkSelection {
  decision_ids?: string[] | null;
  filter?: { [F in keyof DecisionFilter]: DecisionFilter[F] | null } | null;
}

/** What a human thinks of a decision. */
export interface Review {
  review_status: Exclude<ReviewStatus, 'unreviewed'>;
  review_note?: string | null;
  /** What it should have been. Only a dispute says so. */
  should_have?: string | null;
  /** The same of its kind. */
  should_have_kind?: DecisionKind | null;
}

const DONE: Record<BulkAction, string> = { archive: 'decisions.archived', unarchive: 'decisions.unarchived', review: 'decisions.agreed' };
/** What a filter means where it is silent: that which the action changes. */
const ACTED_ON: Record<BulkAction, DecisionFilter> = {
  archive: { archived: false },
  unarchive: { archived: true },
  review: { archived: false, review_status: 'unreviewed' },
};

/** What humans do with decisions. Everything is written together with its line in the audit log. */
@Injectable()
export class DecisionsService {
  private readonly decisions = new OrgTable(Decision);

  constructor(
    private readonly db: Database,
    private readonly queries: DecisionsQueries,
    private readonly repository: DecisionsRepository,
    private readonly agents: AgentsQueries,
    private readonly instructions: InstructionsService,
    private readonly audit: Audit,
  ) {}

  /**
   * Archives, brings back or agrees to many decisions of an agent. What the caller may not see is not there.
   *
   * @param agentRef an id or a slug
   * @returns of those that were selected and may be seen (`matched`), how many this call, and no other, has changed, and how many not:
   * they were so already, or may not be touched
   * @throws DomainError 422 `exactly_one_required` unless either ids or a filter are given
   */
  async bulk(scope: OrgScope, agentRef: string, action: BulkAction, { decision_ids: ids, filter: given }: BulkSelection) {
    const agentId = await this.agents.idOf(scope, agentRef);
    if (!ids === !given) throw new DomainError('exactly_one_required', 'Give either decision_ids or filter.');
    const said = Object.entries(given ?? {}).filter(([, value]) => value !== undefined && value !== null);
    const filter: DecisionFilter = { ...ACTED_ON[action], ...Object.fromEntries(said) };
    return this.db.transaction(scope, async (tx) => {
      const { changed_ids, matched, updated } = ids
        ? await this.repository.bulkByIds(tx, scope, agentId, action, ids)
        : { changed_ids: null, ...(await this.repository.bulkByFilter(tx, scope, agentId, action, filter)) };
      const which = changed_ids ? { decision_ids: changed_ids } : { filter };
      if (updated > 0) await this.audit.record(tx, scope, DONE[action], { kind: 'agent', id: agentId }, { updated, ...which });
      return { updated, matched, unchanged: matched - updated };
    });
  }

  /**
   * Writes what a human thinks of a decision, whatever was thought of it before. Only a dispute says what it should have been, and a
   * dispute that leaves it out keeps what was said.
   *
   * @throws DomainError 422 when `reverted` comes without a note
   */
  async review(scope: OrgScope, chatId: string, id: string, { review_status, ...said }: Review): Promise<Decision> {
    const review_note = blankAsNull(said.review_note);
    if (review_status === 'reverted' && review_note === null)
      throw invalid({ loc: ['body', 'review_note'], msg: 'Field required: say what was undone', type: 'missing' });
    const corrected = review_status === 'disputed' ? said : {};
    const should_have = corrected.should_have === undefined ? undefined : blankAsNull(corrected.should_have);
    return this.db.transaction(scope, async (tx) => {
      const { review_status: from } = await this.lock(tx, scope, chatId, id);
      const written = {
        ...{ review_status, review_note, should_have, should_have_kind: corrected.should_have_kind },
        ...{ reviewed_by: scope.actor.userId, reviewed_at: now },
      };
      const after = await this.decisions.update(tx, scope, id, written);
      await this.audit.record(tx, scope, 'decision.reviewed', id, { from, to: review_status, chat_id: chatId });
      return after!;
    });
  }

  /**
   * Writes a disputed decision's correction into the agent's instruction draft, once. It is published, and goes live, like any other edit.
   *
   * @throws DomainError 422 `not_disputed` or `should_have_missing`
   */
  async draftCorrection(scope: OrgScope, chatId: string, id: string): Promise<AmendedInstruction> {
    return this.db.transaction(scope, async (tx) => {
      // Held, so that the dispute stands for as long as it is being written.
      const { review_status, should_have, agent_id } = await this.lock(tx, scope, chatId, id);
      if (review_status !== 'disputed') throw new DomainError('not_disputed', 'Only a disputed decision can correct the instruction.');
      if (should_have === null)
        throw new DomainError('should_have_missing', 'The dispute does not say what the decision should have been.');
      const view = await this.instructions.amendDraft(tx, scope, agent_id, (content) => withCorrection(content, id, should_have));
      const drafted = { agent_id, chat_id: chatId };
      if (view.amended) await this.audit.record(tx, scope, 'decision.correction_drafted', id, drafted);
      return view;
    });
  }

  /** Locks a decision of a chat that the caller may open. */
  private async lock(tx: Tx, scope: OrgScope, chatId: string, id: string): Promise<Decision> {
    await this.queries.get(tx, scope, chatId, id);
    return this.decisions.get(tx, scope, id, 'for no key update');
  }
}

const blankAsNull = (text: string | null | undefined): string | null => text?.trim() || null;
