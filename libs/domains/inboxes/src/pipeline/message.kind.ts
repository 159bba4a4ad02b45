import { Injectable, Logger } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { alreadyCommitted, Database, NO_CALLER, OneByOne, type Ahead, type Tx } from '@aps/platform/database';
import { RunKind, RunSweeper, type ClaimAnswer, type Claiming, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Evaluation, HandoffFailed } from './evaluation';
import { EvaluationRepository, type ClaimedMessage } from './evaluation.repository';

/** Of an organization, so that a flood of one leaves room for the others. */
const CAP = 32;
/** Bytes from which on a message is large: parsed, it takes many times as much memory. */
const LARGE = 512 * 1024;
/** Large messages that a process evaluates at once. */
const LARGE_AT_ONCE = 3;
const HANDLER_TRIES = 5;
const FIRST_WAIT_MS = 1_000;

type Answer = ClaimAnswer<ClaimedMessage>;

/** The evaluation of a message, as a durable run. */
@Injectable()
export class MessageKind extends RunKind<'inbox.evaluate', ClaimedMessage> {
  private readonly logger = new Logger('MessageKind');
  private readonly large = new OneByOne();
  readonly rows = this.repository.runs;

  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly evaluation: Evaluation,
    sweeper: RunSweeper,
  ) {
    super();
    sweeper.register(this);
  }

  capOf = (): Promise<number> => Promise.resolve(CAP);
  /** None: claims of one process go together and know of each other, and what other processes claim at the same moment may go over it. */
  override readonly capMargin = 0;
  claiming = ({ message_id }: JobPayload<'inbox.evaluate'>): Pick<Claiming, 'run_id' | 'key'> => ({ run_id: message_id, key: message_id });
  claimAll = (tx: Tx, claimings: Claiming[]): Promise<(Answer | null)[]> => this.repository.claimAll(tx, claimings);

  async claimAhead(claiming: Claiming): Promise<Ahead<Answer> | null> {
    const answer = await this.repository.claim(this.db, claiming);
    return answer && alreadyCommitted(answer);
  }

  /** Jobs are handed out when their messages are committed. */
  awaitWriter = (): Promise<void> => Promise.resolve();
  park = (tx: Tx, runs: Answer[]): Promise<void> =>
    this.rows.park(
      tx,
      runs.map(({ id }) => id),
    );
  refuse = (run: Answer): Promise<void> => this.evaluation.giveUp(run);
  /** A gate holds what comes to a suspended organization. */
  suspend = (): Promise<void> => Promise.resolve();
  attributesOf = ({ id }: ClaimedMessage): Record<string, string> => ({ 'aps.message.id': id });

  drive(run: OwnedRun<ClaimedMessage>, lease: Lease): Promise<string> {
    if (run.bytes <= LARGE) return this.evaluate(run, lease);
    const place = Number(`0x${run.id.slice(-4)}`) % LARGE_AT_ONCE;
    return this.large.run(String(place), () => this.evaluate(run, lease));
  }

  private async evaluate(run: OwnedRun<ClaimedMessage>, lease: Lease): Promise<string> {
    lease.requireNext();
    const message = await this.repository.load(this.db, run.id);
    if (!message) throw new Error(`Message ${run.id} is gone`);
    return this.evaluation.run(run, message, lease);
  }

  async fail(run: OwnedRun<ClaimedMessage>, error: unknown): Promise<string | null> {
    if (!(error instanceof HandoffFailed)) return null;
    const message = await this.repository.load(this.db, run.id);
    if (!message) return null;
    if (message.inbox_deleted) {
      await this.evaluation.dropOfDeleted(run, message, error);
      return 'dropped';
    }
    const tries = (message.wait?.tries ?? 0) + 1;
    this.logger.warn({
      msg: 'A handler could not be begun',
      message_id: run.id,
      tries,
      error: (error.cause as Error)?.stack ?? String(error.cause),
    });
    if (tries >= HANDLER_TRIES) {
      await this.evaluation.giveUpHandler(run, message, error);
      return 'failed';
    }
    const resume_at = new Date(this.db.now().getTime() + FIRST_WAIT_MS * 2 ** tries).toISOString();
    await this.db.transaction(NO_CALLER, (tx) => this.repository.putOff(tx, run, { ...message.wait, tries, resume_at }));
    return 'waiting';
  }
}
