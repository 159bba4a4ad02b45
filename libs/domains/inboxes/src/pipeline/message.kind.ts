import { Injectable, Logger } from '@nestjs/common';
import type { EvaluationWait } from '@aps/entities';
import { Database, NO_CALLER, OneByOne } from '@aps/platform/database';
import { PlainKind, RunSweeper, type ClaimAnswer, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Evaluation, HandoffFailed } from './evaluation';
import { EvaluationRepository, type ClaimedMessage } from './evaluation.repository';
import { CLAIM, type LoadedMessage } from './evaluation.sql';
import { BehindThread } from './handoff';

/** Of an organization, so that a flood of one leaves room for the others. */
const CAP = 32;
/** Bytes from which on a message is large: parsed, it takes many times as much memory. */
const LARGE = 512 * 1024;
/** Large messages that a process evaluates at once. */
const LARGE_AT_ONCE = 3;
const HANDLER_TRIES = 5;
const FIRST_WAIT_MS = 1_000;

/** The evaluation of a message, as a durable run. */
@Injectable()
export class MessageKind extends PlainKind<'inbox.evaluate', ClaimedMessage> {
  private readonly logger = new Logger('MessageKind');
  private readonly large = new OneByOne();

  constructor(
    db: Database,
    private readonly repository: EvaluationRepository,
    private readonly evaluation: Evaluation,
    sweeper: RunSweeper,
  ) {
    super(db, repository.runs, CLAIM, CAP, sweeper);
  }

  /** None: claims of one process go together and know of each other, and what other processes claim at the same moment may go over it. */
  override readonly capMargin = 0;
  refuse = (run: ClaimAnswer<ClaimedMessage>): Promise<void> => this.evaluation.giveUp(run);
  /** A gate holds what comes to a suspended organization. */
  override suspend(): Promise<void> {
    return Promise.resolve();
  }

  attributesOf = ({ id }: ClaimedMessage): Record<string, string> => ({ 'aps.message.id': id });

  drive(run: OwnedRun<ClaimedMessage>, lease: Lease): Promise<string> {
    if (run.bytes <= LARGE) return this.evaluate(run, lease);
    const place = Number(`0x${run.id.slice(-4)}`) % LARGE_AT_ONCE;
    return this.large.run(String(place), () => this.evaluate(run, lease));
  }

  private async evaluate(run: OwnedRun<ClaimedMessage>, lease: Lease): Promise<string> {
    lease.requireNext();
    const message = await this.repository.load(this.db, run);
    if (!message) throw new Error(`Message ${run.id} is gone`);
    return this.evaluation.run(run, message, lease);
  }

  async fail(run: OwnedRun<ClaimedMessage>, error: unknown): Promise<string | null> {
    if (!(error instanceof HandoffFailed)) return null;
    const message = await this.repository.load(this.db, { id: run.id });
    if (!message) return null;
    if (message.inbox_deleted) {
      await this.evaluation.dropOfDeleted(run, message, error);
      return 'dropped';
    }
    if (error.cause instanceof BehindThread) {
      const behind = (message.wait?.behind ?? 0) + 1;
      return this.putOff(run, message, { behind }, FIRST_WAIT_MS * 2 ** (behind - 1));
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
    return this.putOff(run, message, { tries }, FIRST_WAIT_MS * 2 ** tries);
  }

  private async putOff(
    run: OwnedRun<ClaimedMessage>,
    { wait }: LoadedMessage,
    so: Pick<EvaluationWait, 'tries' | 'behind'>,
    ms: number,
  ): Promise<string> {
    const resume_at = new Date(this.db.now().getTime() + ms).toISOString();
    await this.db.transaction(NO_CALLER, (tx) => this.repository.putOff(tx, run, { ...wait, ...so, resume_at }));
    return 'waiting';
  }
}
