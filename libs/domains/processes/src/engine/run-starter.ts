import { Injectable } from '@nestjs/common';
import { DomainError, refuseValue } from '@aps/contracts';
import type { FileReference } from '@aps/entities';
import { Database, storable, type Tx } from '@aps/platform/database';
import { asText } from '@aps/platform/definitions';
import { Outbox } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { validate } from '@aps/platform/json-schema';
import { ExpressionError, render, type Definition } from '../definition';
import type { DeployedProcess } from '../revisions/process-refs';
import { Admissions } from './admissions';
import { Cancellation } from './cancellation';
import { ENGINE_VERSION } from './journal';
import { JournalRepository, toTopicEvent } from './journal.repository';
import { AT_WORK, LINE } from './process-run.sql';
import { envelopeOf, type RunMessage, type RunSource } from './envelope';
import { INSERT_RUN } from './run-starter.sql';

/** A run whose agent begins another one, and which goes on without that. */
export interface WithinRun {
  run_id: string;
  depth: number;
}

/** A run that is to be. */
export interface NewRun {
  org_id: string;
  source: RunSource;
  input: Record<string, unknown>;
  attachments?: FileReference[];
  message?: RunMessage | null;
  label?: string | null;
  budget_credits?: string | null;
  parent?: { run_id: string; step_id: string; root_run_id: string; depth: number };
  within?: WithinRun;
  idempotency?: { key: string; sha256: string };
  /** Of one that another is done again by: its envelope, whole. */
  restart?: { of: string; envelope: string };
  /** Writes what belongs to the run, before anybody can go on with it. */
  beside?: (runId: string) => Promise<void>;
}

/** How many levels of runs may be within each other, by their steps or by agents of theirs. */
const MAX_DEPTH = 10;

/** Why nothing more is begun within a run; null where something may be. */
export const tooDeep = ({ depth }: { depth: number }): string | null =>
  depth >= MAX_DEPTH ? `Processes are within each other for more than ${MAX_DEPTH} levels.` : null;

/** There is no room for another run of a key. */
class NoRoom extends DomainError {
  constructor(
    readonly key: string,
    detail: string,
    context: Record<string, unknown>,
  ) {
    super('concurrency_limit', detail, { context });
  }
}

/** Makes runs, in the transactions of those who want them. Workers are told after the commit. */
@Injectable()
export class RunStarter {
  constructor(
    private readonly db: Database,
    private readonly journal: JournalRepository,
    private readonly outbox: Outbox,
    private readonly admissions: Admissions,
    private readonly cancellation: Cancellation,
  ) {}

  /** Why an input does not fit; null where it does. */
  inputProblem({ input_schema }: Definition, input: unknown): string | null {
    if (input_schema === null) return null;
    const problems = validate(input_schema, input);
    return problems.length ? problems.map(({ path, message }) => `${path || 'input'}: ${message}`).join('; ') : null;
  }

  /**
   * @param target held by this transaction
   * @throws DomainError 409 `concurrency_limit`; 422 `validation_error` where no key can be made of the input
   */
  async insert(tx: Tx, target: DeployedProcess, run: NewRun): Promise<{ id: string }> {
    const id = uuidv7();
    const at = this.db.now();
    const envelope =
      run.restart?.envelope ??
      envelopeOf(storable({ ...run, id, received_at: at.toISOString(), attachments: run.attachments ?? [], message: run.message ?? null }));
    const key = keyOf(target.definition, envelope);
    const admitted = key === null || (await this.hasRoom(tx, target, run, key));
    const told = [toTopicEvent({ type: 'run_created', step_id: null, path: null, metadata: { source: run.source.kind } })];
    await tx.execute(INSERT_RUN, [
      id,
      run.org_id,
      target.process_id,
      target.revision_id,
      target.revision_hash,
      target.revision_version,
      run.label ?? null,
      envelope,
      run.source.kind,
      run.source.ref_id,
      run.source.user_id,
      run.restart?.of ?? null,
      run.parent?.run_id ?? null,
      run.parent?.step_id ?? null,
      run.parent?.root_run_id ?? id,
      run.parent?.depth ?? (run.within ? run.within.depth + 1 : 0),
      key,
      target.definition.concurrency?.limit ?? null,
      admitted,
      lower(run.budget_credits ?? null, target.definition.limits.max_credits),
      run.budget_credits ?? null,
      run.idempotency?.key ?? null,
      run.idempotency?.sha256 ?? null,
      at,
      JSON.stringify(told),
      ENGINE_VERSION,
    ]);
    await run.beside?.(id);
    // Its worker before its readers: it has more to do.
    if (admitted) await this.outbox.handOut(tx, [{ id, name: 'process.run', payload: { org_id: run.org_id, run_id: id } }]);
    tx.afterCommit(() => this.journal.publish(id, 0, told, at));
    return { id };
  }

  /** The same for who has nobody to tell of a refusal but a row. @returns why it was not begun, where nothing was written */
  async insertOrRefusal(
    tx: Tx,
    target: DeployedProcess,
    run: NewRun,
  ): Promise<{ id: string } | { refused: 'misfit'; why: string } | { refused: 'full'; why: string; key: string }> {
    const misfit = this.inputProblem(target.definition, run.input);
    if (misfit !== null) return { refused: 'misfit', why: misfit };
    try {
      return await this.insert(tx, target, run);
    } catch (error) {
      if (error instanceof NoRoom) return { refused: 'full', why: error.detail, key: error.key };
      if (error instanceof DomainError && error.code === 'validation_error') return { refused: 'misfit', why: error.detail };
      throw error;
    }
  }

  /**
   * Whether a run of this key may begin now; else it waits its turn, behind those that wait already. Those that it is within, which deploys during a run can bring about, mostly
   * end after it: it neither waits for them nor ends them.
   */
  private async hasRoom(
    tx: Tx,
    { process_id, definition }: DeployedProcess,
    { org_id, parent, within }: NewRun,
    key: string,
  ): Promise<boolean> {
    const { limit, strategy } = definition.concurrency!;
    await this.admissions.lock(tx, process_id, key);
    const [{ at_work: atWork, waits }] = await tx.query(AT_WORK, [process_id, key]);
    if (atWork.length < limit) {
      if (!waits || strategy !== 'queue') return true;
      // There is room, and nobody has told those that wait for it yet: a deploy has made it, or a run has just ended.
      tx.afterCommit(() => this.admissions.next([{ org_id, process_id, concurrency_key: key }]));
      return false;
    }
    const above = parent ?? within;
    const line = above ? (await tx.query(LINE, [above.run_id])).map(({ id }) => id) : [];
    const others = atWork.filter((id) => !line.includes(id));
    const tooMany = atWork.length - limit + 1;
    if (strategy === 'queue' && others.length > 0) return false;
    if (strategy === 'cancel_running' && others.length >= tooMany) {
      await this.cancellation.cancelTrees(tx, org_id, others.slice(0, tooMany), { tellParents: true, owned: parent?.run_id });
      return true;
    }
    const msg =
      strategy === 'reject'
        ? `There are ${limit} runs of this key at work.`
        : 'The runs of this key that are at work are waiting for this one.';
    throw new NoRoom(key, msg, { limit, run_ids: atWork });
  }

  /** How many more runs of a key may begin, where those that are too many are refused; elsewhere any number. */
  async roomOf(tx: Tx, { process_id, definition: { concurrency } }: DeployedProcess, key: string): Promise<number> {
    if (concurrency?.strategy !== 'reject') return Infinity;
    const [{ at_work: atWork }] = await tx.query(AT_WORK, [process_id, key]);
    return Math.max(0, concurrency.limit - atWork.length);
  }
}

/** Characters: what is looked for by an index has its bounds. */
const MAX_KEY = 500;

/** What runs of a process may not be at work with at the same time. */
function keyOf({ concurrency }: Definition, envelope: string): string | null {
  if (concurrency === null) return null;
  try {
    const known = JSON.parse(envelope) as Record<string, unknown>;
    const value = render(concurrency.key, { input: known.input, envelope: known, steps: {}, vars: {}, run: {} });
    const key = storable(asText(value));
    if (key.length > MAX_KEY) throw new ExpressionError(`It would have more than ${MAX_KEY} characters.`);
    return key;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw refuseValue(['body', 'input'], `The input gives no concurrency key: ${error.message}`);
  }
}

const lower = (a: string | null, b: string | null): string | null => (a === null || b === null ? (a ?? b) : Number(a) <= Number(b) ? a : b);
