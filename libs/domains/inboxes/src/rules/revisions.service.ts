import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError } from '@aps/contracts';
import { Inbox, InboxRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog, ModelQueries } from '@aps/inference';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Listed, type Tx } from '@aps/platform/database';
import { hashOf } from '@aps/platform/definitions';
import { LessThan } from 'typeorm';
import { Handlers } from '../handlers';
import { pushedRuleSet, refuseProblems, storedRuleSet } from './revision.policy';
import { modelsOf, patternProblems, targetsOf, type RevisionProblem } from './rule-set.check';
import type { RuleSet } from './rule-set.schema';

/** What has become of an inbox's revisions. */
export interface Deployment {
  revision: InboxRevision;
  /** Null where nothing was deployed before, or nothing has changed. */
  previous_revision_id: string | null;
  superseded_revision_ids: string[];
}

type Change = 'created' | 'updated' | 'discarded' | 'deployed' | 'rolled_back';

/** The rule sets of inboxes. Whoever changes one holds the row of its inbox, so that one is deployed at any moment, and numbers have one order. */
@Injectable()
export class RevisionsService {
  private readonly inboxes = new OrgTable(Inbox, 'Inbox');
  private readonly revisions = new OrgTable(InboxRevision, 'Revision', undefined, 'large');

  constructor(
    private readonly db: Database,
    private readonly handlers: Handlers,
    private readonly catalog: ModelCatalog,
    private readonly models: ModelQueries,
    private readonly entitlements: Entitlements,
    private readonly audit: Audit,
  ) {}

  /** Newest first. @throws DomainError `not_found` */
  async list(scope: OrgScope, inboxId: string): Promise<Listed<InboxRevision>> {
    await this.inboxes.get(this.db, scope, inboxId);
    return this.revisions.page(this.db, scope, { inbox_id: inboxId }, { version: 'DESC' }, {});
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, inboxId: string, id: string): Promise<InboxRevision> {
    await this.inboxes.get(this.db, scope, inboxId);
    return this.revisions.get(this.db, scope, { id, inbox_id: inboxId });
  }

  /**
   * Writes a draft: the open one anew, or one of the next version. What the newest revision says already is not written again.
   *
   * @throws DomainError `not_found`; 422 `validation_error` with every problem of the shape
   */
  push(scope: OrgScope, inboxId: string, definition: Record<string, unknown>): Promise<{ revision: InboxRevision; created: boolean }> {
    pushedRuleSet(definition);
    const content = { definition, hash: hashOf(definition) };
    return this.db.transaction(scope, async (tx) => {
      const inbox = await this.inboxes.get(tx, scope, inboxId, 'for no key update');
      const [latest] = await this.revisions.list(tx, scope, { inbox_id: inboxId }, { version: 'DESC' }, 1);
      if (latest?.hash === content.hash) return { revision: latest, created: false };
      if (latest?.status === 'draft') {
        const revision = (await this.revisions.update(tx, scope, latest.id, content))!;
        await this.record(tx, scope, 'updated', revision);
        return { revision, created: false };
      }
      const version = inbox.last_version + 1;
      const created_by = scope.actor.userId;
      const revision = await this.revisions.insert(tx, scope, { ...content, inbox_id: inboxId, version, status: 'draft', created_by });
      await this.inboxes.update(tx, scope, inboxId, { last_version: version });
      await this.record(tx, scope, 'created', revision);
      return { revision, created: true };
    });
  }

  /** Its number is not given again. @throws DomainError `not_found`; 409 `revision_kept` */
  async discard(scope: OrgScope, inboxId: string, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const revision = await this.locked(tx, scope, inboxId, id);
      if (revision.status === 'deployed' || revision.status === 'archived')
        throw new DomainError('revision_kept', 'A revision that is deployed, or was, stays. Roll back instead.');
      await this.revisions.delete(tx, scope, id);
      await this.record(tx, scope, 'discarded', revision);
    });
  }

  /**
   * Makes a draft the rules of its inbox. Messages whose evaluation has begun end by the rules it began with.
   *
   * @throws DomainError `not_found`; 403 `entitlement_required`; 409 `not_a_draft`; 422 `revision_invalid`, with what must be mended
   */
  deploy(scope: OrgScope, inboxId: string, id: string): Promise<Deployment> {
    return this.db.transaction(scope, async (tx) => {
      const revision = await this.locked(tx, scope, inboxId, id);
      if (revision.status === 'deployed') return { revision, previous_revision_id: null, superseded_revision_ids: [] };
      if (revision.status !== 'draft')
        throw new DomainError('not_a_draft', `The revision is ${revision.status}. Roll back to it, or push what it says again.`);
      await this.requireRunnable(tx, scope, storedRuleSet(revision.definition));
      const older = { inbox_id: inboxId, status: 'draft' as const, version: LessThan(revision.version) };
      const superseded = await this.revisions.list(tx, scope, older, { version: 'DESC' });
      for (const draft of superseded) await this.revisions.update(tx, scope, draft.id, { status: 'superseded' });
      const ids = superseded.map((draft) => draft.id);
      return this.swap(tx, scope, revision, 'deployed', ids);
    });
  }

  /**
   * Makes what was deployed before the rules again, whatever it names is there or not: it is what one does in need. Drafts stay.
   *
   * @throws DomainError `not_found`; 409 `already_deployed`, `not_previously_deployed`
   */
  rollback(scope: OrgScope, inboxId: string, id: string): Promise<Deployment> {
    return this.db.transaction(scope, async (tx) => {
      const revision = await this.locked(tx, scope, inboxId, id);
      if (revision.status === 'deployed') throw new DomainError('already_deployed', 'This revision is deployed.');
      if (revision.status !== 'archived')
        throw new DomainError('not_previously_deployed', 'This revision was never deployed. Deploy it, if it is a draft.');
      return this.swap(tx, scope, revision, 'rolled_back', []);
    });
  }

  private async locked(tx: Tx, scope: OrgScope, inboxId: string, id: string): Promise<InboxRevision> {
    await this.inboxes.get(tx, scope, inboxId, 'for no key update');
    return this.revisions.get(tx, scope, { id, inbox_id: inboxId });
  }

  /** The one that is deployed goes first: there are never two. */
  private async swap(
    tx: Tx,
    scope: OrgScope,
    { id, inbox_id }: InboxRevision,
    what: Change,
    superseded_revision_ids: string[],
  ): Promise<Deployment> {
    const previous = await this.revisions.update(tx, scope, { inbox_id, status: 'deployed' }, { status: 'archived' });
    const deployed = { status: 'deployed' as const, deployed_by: scope.actor.userId, deployed_at: now };
    const revision = (await this.revisions.update(tx, scope, id, deployed))!;
    await this.inboxes.update(tx, scope, inbox_id, { current_revision_id: id });
    const outcome = { previous_revision_id: previous?.id ?? null, superseded_revision_ids };
    await this.record(tx, scope, what, revision, outcome);
    return { revision, ...outcome };
  }

  private async requireRunnable(tx: Tx, scope: OrgScope, ruleSet: RuleSet): Promise<void> {
    refuseProblems([
      ...patternProblems(ruleSet),
      ...(await this.targetProblems(tx, scope, ruleSet)),
      ...(await this.modelProblems(tx, scope, ruleSet)),
    ]);
    if (modelsOf(ruleSet).length) await this.entitlements.require(scope.orgId, 'direct_model_choice', tx);
  }

  private async targetProblems(tx: Tx, scope: OrgScope, ruleSet: RuleSet): Promise<RevisionProblem[]> {
    const known = new Map<string, boolean>();
    const problems: RevisionProblem[] = [];
    for (const { target, ...place } of targetsOf(ruleSet)) {
      const name = `${target.kind}:${target.id}`;
      if (!known.has(name)) known.set(name, await this.handlers.exists(tx, scope, target));
      if (!known.get(name)) problems.push({ ...place, problem: `There is no such ${target.kind}.`, valid_values: [] });
    }
    return problems;
  }

  private async modelProblems(tx: Tx, scope: OrgScope, ruleSet: RuleSet): Promise<RevisionProblem[]> {
    const named = modelsOf(ruleSet);
    const usable = await this.catalog.holdUsable(tx, scope, [...new Set(named.map(({ model }) => model))], 'intake_classifier');
    const missing = named.filter(({ model }) => !usable.has(model));
    if (!missing.length) return [];
    const { models: valid_values } = (await this.models.config(scope)).scopes.intake_classifier;
    return missing.map(({ stage_id, field }) => ({ stage_id, field, problem: 'There is no such model.', valid_values }));
  }

  private async record(tx: Tx, scope: OrgScope, what: Change, revision: InboxRevision, facts: Record<string, unknown> = {}): Promise<void> {
    const { id, inbox_id, version } = revision;
    await this.audit.record(tx, scope, `inbox_revision.${what}`, id, { inbox_id, version, ...facts });
  }
}
