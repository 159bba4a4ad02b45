import { Injectable, Logger } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { Database, Deletions, isConnectionLoss, type Deleted, type Tx } from '@aps/platform/database';
import { StepTools } from '../tools/step-tools';
import { Definitions } from './definitions';
import { References, refOf, type Referred } from './references';
import { DUE, MAKE_DUE, MARK, MARK_NAMING, PINNED } from './staleness.sql';
import { calledTools, changedTool } from './tool-snapshot';

/** What is deleted, by the kind that tells it, as definitions name it. */
const NAMED_AS: Partial<Record<string, Referred>> = { agent: 'agent', prompt_template: 'template', process: 'process' };
const REASONS = { agent: 'agent_deleted', template: 'template_deleted', process: 'process_deleted', model: 'model_retired' };

/** Says of processes that something around them is not as it was when they were deployed. They run still; a deploy takes it back. */
@Injectable()
export class Staleness {
  private readonly logger = new Logger('Staleness');

  constructor(
    private readonly db: Database,
    deletions: Deletions,
    private readonly definitions: Definitions,
    private readonly references: References,
    private readonly tools: StepTools,
  ) {
    deletions.listen((tx, gone) => this.onDeleted(tx, gone));
  }

  private async onDeleted(tx: Tx, { kind, orgId, id, slug }: Deleted): Promise<void> {
    const named = NAMED_AS[kind];
    if (named) await tx.execute(MARK_NAMING, [orgId, refOf(named, id), `${REASONS[named]}:${slug}`]);
  }

  /** Has all processes of an organization looked at soon: for sources of tools, whose tools change. */
  async recheck(orgId: string): Promise<void> {
    await this.db.execute(MAKE_DUE, [orgId]);
  }

  /** Looks at processes that nobody has looked at for a day, so many of them at most. @returns how many */
  async checkDue(limit: number): Promise<number> {
    const due = await this.db.query(DUE, [limit]);
    for (const { id, org_id, revision_id, looked_at } of due) {
      try {
        const reason = await this.reasonOf(org_id, revision_id);
        if (reason) await this.db.execute(MARK, [id, looked_at, reason]);
      } catch (error) {
        if (isConnectionLoss(error)) throw error;
        // The others of this look are marked as looked at, too.
        this.logger.error({ msg: 'A process could not be looked at', process_id: id, error: (error as Error)?.message });
      }
    }
    return due.length;
  }

  /** The first that has changed: tools, then what is named in the order of {@link REASONS}. */
  private async reasonOf(orgId: string, revisionId: string): Promise<string | null> {
    const definition = await this.definitions.of(orgId, revisionId);
    const [{ tool_snapshot, meant }] = await this.db.query(PINNED, [orgId, revisionId]);
    const changed = changedTool(tool_snapshot ?? [], await calledTools(this.tools, orgId, definition));
    if (changed) return changed;
    const scope = OrgScope.system(orgId, 'process_staleness');
    const found = await this.db.transaction(scope, (tx) => this.references.held(tx, scope, definition, meant));
    const missing = found.find(({ id }) => id === null);
    return missing ? `${REASONS[missing.kind]}:${missing.name}` : null;
  }
}
