import { Injectable } from '@nestjs/common';
import { HitlQueries } from '@aps/chats';
import { DomainError, notFound, refuseValue } from '@aps/contracts';
import { Process, ProcessRevision, type ProcessRun } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OneByOne, OrgTable } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { PromptsQueries, schemaOf } from '@aps/prompts';
import { validate, type Schema } from '@aps/platform/json-schema';
import { standingOf } from '@aps/platform/runs';
import { referencesIn, type Definition } from '../definition';
import { envelopeOf } from '../engine/envelope';
import { JournalRepository } from '../engine/journal.repository';
import { runFactsOf } from '../engine/run-facts';
import { Definitions } from '../revisions/definitions';
import { RUN } from '../runs/runs.sql';
import type { Bounds } from './bounds';
import { runAllowedActions, runBlockedBy, runNextAction, type RunDiagnosis } from './diagnosis.policy';
import { LAST_OVER, OPEN, SURROUNDINGS } from './run-reviews.sql';
import { replayed, type ReplayCheck } from './replay.policy';
import { simulated, type ProcessSimulation } from './simulation.policy';

/** What a simulation goes by: one of the two. */
interface Simulated {
  input?: Record<string, unknown> | null;
  run_id?: string | null;
}

export interface RunReplayCheck extends ReplayCheck {
  /** Of the engine that the run was begun by. */
  run_engine_version: string;
}

/** Of computing, for one look: its process serves others, too. */
const MAX_LOOK_MS = 5_000;

/** Looks at runs, and at what would be runs, without any effect. */
@Injectable()
export class RunReviews {
  private readonly processes = new OrgTable(Process, 'Process');
  private readonly revisions = new OrgTable(ProcessRevision, 'Revision');
  /** Whole runs are in memory one at a time; an organization that asks for many waits for itself, and has others wait for one. */
  private readonly ofAll = new OneByOne();
  private readonly ofOrgs = new OneByOne();

  constructor(
    private readonly db: Database,
    private readonly definitions: Definitions,
    private readonly journal: JournalRepository,
    private readonly questions: HitlQueries,
    private readonly prompts: PromptsQueries,
  ) {}

  /**
   * @param signal aborted when nobody waits for it any more
   * @throws DomainError 404; 422 `validation_error` for neither or both of input and run, and an input that does not fit
   */
  simulate(scope: OrgScope, processId: string, revisionId: string, of: Simulated, signal?: AbortSignal): Promise<ProcessSimulation> {
    return this.inTurn(scope, () => this.simulateNow(scope, processId, revisionId, of, { maxMs: MAX_LOOK_MS, signal }));
  }

  private async simulateNow(
    scope: OrgScope,
    processId: string,
    revisionId: string,
    { input, run_id }: Simulated,
    bounds: Bounds,
  ): Promise<ProcessSimulation> {
    bounds.signal?.throwIfAborted();
    await this.processes.get(this.db, scope, processId);
    await this.revisions.get(this.db, scope, { id: revisionId, process_id: processId });
    const definition = await this.definitions.of(scope.orgId, revisionId);
    if (!input === !run_id) throw refuseValue(['body'], 'Say either an input or a run.');
    const templates = await this.templatesOf(scope, definition);
    if (run_id) {
      const run = await this.find(scope, processId, run_id);
      return simulated(definition, runFactsOf(run), await this.journal.journal(this.db, run.id), templates, bounds);
    }
    const misfits = definition.input_schema ? validate(definition.input_schema, input) : [];
    if (misfits.length) throw refuseValue(['body', 'input', ...misfits[0].path.split('.').filter(Boolean)], misfits[0].message);
    const at = this.db.now();
    const id = uuidv7();
    const source = { kind: 'api' as const, ref_id: null, user_id: scope.actor.userId };
    const envelope = envelopeOf({ id, source, received_at: at.toISOString(), input: input!, attachments: [], message: null });
    const run = { id, process_id: processId, revision_id: revisionId, version: null, label: null };
    return simulated(definition, { envelope: JSON.parse(envelope) as Record<string, unknown>, run, started_at: at }, [], templates, bounds);
  }

  /** @param signal aborted when nobody waits for it any more @throws DomainError 404 */
  replayCheck(scope: OrgScope, processId: string, runId: string, signal?: AbortSignal): Promise<RunReplayCheck> {
    return this.inTurn(scope, async () => {
      signal?.throwIfAborted();
      const run = await this.find(scope, processId, runId);
      const definition = await this.definitions.of(scope.orgId, run.revision_id);
      const check = await replayed(definition, runFactsOf(run), await this.journal.journal(this.db, runId), { maxMs: MAX_LOOK_MS, signal });
      return { ...check, run_engine_version: run.engine_version };
    });
  }

  private inTurn<T>(scope: OrgScope, look: () => Promise<T>): Promise<T> {
    return this.ofOrgs.run(scope.orgId, () => this.ofAll.run('', look));
  }

  /** @throws DomainError 404 */
  async diagnose(scope: OrgScope, processId: string, runId: string): Promise<RunDiagnosis> {
    const run = await this.find(scope, processId, runId);
    const [[around], open, [last = null]] = await Promise.all([
      this.db.query(SURROUNDINGS, [runId]),
      this.db.query(OPEN, [runId]),
      this.db.query(LAST_OVER, [runId]),
    ]);
    const facts = { ...run, ...around, open };
    const by = runBlockedBy(facts);
    return {
      state: run.state,
      blocked_by: by,
      ...standingOf(facts),
      last_step: last,
      next_action: runNextAction(facts, by),
      allowed_actions: runAllowedActions(facts, run.asks_human && (await this.questions.mayAnswerOne(scope, runId))),
    };
  }

  /** What prompt templates answer that a definition names; null: text. Without those that are not there any more. */
  private async templatesOf(scope: OrgScope, definition: Definition): Promise<Map<string, Schema | null>> {
    const names = [...new Set(referencesIn(definition).templates.map(({ template }) => template))];
    const found = await Promise.all(names.map((name) => this.prompts.get(scope, name).catch(nobody)));
    return new Map(
      found.flatMap((template, i) => (template ? [[names[i], template.fields.length ? schemaOf(template.fields) : null]] : [])),
    );
  }

  private async find(scope: OrgScope, processId: string, runId: string): Promise<ProcessRun> {
    await this.processes.get(this.db, scope, processId);
    const [run] = await this.db.query(RUN, [scope.orgId, processId, runId]);
    if (!run) throw notFound('Run');
    return run;
  }
}

/** A name that means nothing any more. */
function nobody(error: unknown): null {
  if (error instanceof DomainError && error.code === 'not_found') return null;
  throw error;
}
