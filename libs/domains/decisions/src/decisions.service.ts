import { Injectable } from '@nestjs/common';
import { AgentsQueries, InstructionsService } from '@aps/agents';
import { DomainError, notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { withCorrection } from './corrections.policy';
import { DecisionsRepository } from './decisions.repository';
import type { BulkAction, BulkResult, BulkSelection, DecisionFilter, DecisionRow, Review } from './decisions.types';

/** The instruction draft that a disputed decision was written into. */
export interface CorrectionDraft {
  /** Null when the correction is in the published instruction and nobody is writing a draft. */
  draft_id: string | null;
  base_revision_id: string | null;
  content: string;
  appended: boolean;
  already_appended: boolean;
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
  constructor(
    private readonly db: Database,
    private readonly decisions: DecisionsRepository,
    private readonly agents: AgentsQueries,
    private readonly instructions: InstructionsService,
    private readonly audit: Audit,
  ) {}

  /**
   * Archives, brings back or agrees to many decisions of an agent. What the caller may not see is not there.
   *
   * @param agentRef an id or a slug
   * @throws DomainError 422 `exactly_one_required` unless either ids or a filter are given
   */
  async bulk(scope: OrgScope, agentRef: string, action: BulkAction, selection: BulkSelection): Promise<BulkResult> {
    const agentId = await this.agents.idOf(scope, agentRef);
    const by = selected(selection, ACTED_ON[action]);
    return this.db.transaction(scope, async (tx) => {
      const { matched, updated, which } = await this.change(tx, scope, agentId, action, by);
      if (updated > 0) await this.note(tx, scope, DONE[action], { kind: 'agent', id: agentId }, { updated, ...which });
      return { updated, matched, unchanged: matched - updated };
    });
  }

  /**
   * Writes what a human thinks of a decision, whatever was thought of it before. Only a dispute says what it should have been, and a
   * dispute that leaves it out keeps what was said.
   *
   * @throws DomainError 422 when `reverted` comes without a note
   */
  async review(scope: OrgScope, chatId: string, id: string, review: Review): Promise<DecisionRow> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.locked(tx, scope, chatId, id);
      const note = blankAsNull(review.review_note);
      if (review.review_status === 'reverted' && note === null) {
        const problem = { loc: ['body', 'review_note'], msg: 'Field required: say what was undone', type: 'missing' };
        throw new DomainError('validation_error', 'The request is not valid.', { problems: [problem] });
      }
      const says = review.review_status === 'disputed' && review.should_have !== undefined;
      const should_have = says ? blankAsNull(review.should_have) : before.should_have;
      const after = await this.decisions.review(tx, scope, id, { review_status: review.review_status, review_note: note, should_have });
      await this.note(
        tx,
        scope,
        'decision.reviewed',
        { kind: 'decision', id },
        { from: before.review_status, to: after.review_status, chat_id: chatId },
      );
      return after;
    });
  }

  /**
   * Writes a disputed decision's correction into the agent's instruction draft, once. It is published, and goes live, like any other edit.
   *
   * @throws DomainError 422 `not_disputed` or `should_have_missing`
   */
  async draftCorrection(scope: OrgScope, chatId: string, id: string): Promise<CorrectionDraft> {
    return this.db.transaction(scope, async (tx) => {
      // Held, so that the dispute stands for as long as it is being written.
      const decision = await this.locked(tx, scope, chatId, id);
      if (decision.review_status !== 'disputed')
        throw new DomainError('not_disputed', 'Only a disputed decision can correct the instruction.');
      const { should_have: shouldHave } = decision;
      if (shouldHave === null) throw new DomainError('should_have_missing', 'The dispute does not say what the decision should have been.');
      const view = await this.instructions.amendDraft(tx, scope, decision.agent_id, (content) => withCorrection(content, id, shouldHave));
      if (view.amended)
        await this.note(
          tx,
          scope,
          'decision.correction_drafted',
          { kind: 'decision', id },
          { agent_id: decision.agent_id, chat_id: chatId },
        );
      return {
        draft_id: view.draft?.id ?? null,
        base_revision_id: view.draft ? view.draft.base_revision_id : (view.active?.id ?? null),
        content: (view.draft ?? view.active)?.content ?? '',
        appended: view.amended,
        already_appended: !view.amended,
      };
    });
  }

  private async change(tx: Tx, scope: OrgScope, agentId: string, action: BulkAction, by: { ids: string[] } | { filter: DecisionFilter }) {
    if ('filter' in by) return { ...(await this.decisions.bulkByFilter(tx, scope, agentId, action, by.filter)), which: by };
    const { changed_ids, ...counts } = await this.decisions.bulkByIds(tx, scope, agentId, action, by.ids);
    return { ...counts, which: { decision_ids: changed_ids } };
  }

  private async locked(tx: Tx, scope: OrgScope, chatId: string, id: string): Promise<DecisionRow> {
    const decision = await this.decisions.lock(tx, scope, chatId, id);
    if (!decision) throw notFound('Decision');
    return decision;
  }

  private note(
    tx: Tx,
    scope: OrgScope,
    action: string,
    target: { kind: string; id: string },
    metadata: Record<string, unknown>,
  ): Promise<void> {
    return this.audit.record(tx, scope, action, target, metadata);
  }
}

const blankAsNull = (text: string | null | undefined): string | null => text?.trim() || null;

function selected({ decision_ids: ids, filter }: BulkSelection, actedOn: DecisionFilter): { ids: string[] } | { filter: DecisionFilter } {
  const byIds = ids !== undefined && ids !== null;
  const byFilter = filter !== undefined && filter !== null;
  if (byIds === byFilter) throw new DomainError('exactly_one_required', 'Give either decision_ids or filter.');
  if (byIds) return { ids };
  const said = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return { filter: { ...actedOn, ...(Object.fromEntries(said) as DecisionFilter) } };
}
