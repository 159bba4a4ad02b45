import { Injectable } from '@nestjs/common';
import { TurnBlocked } from '@aps/chats';
import { InferenceError } from '@aps/inference';
import { Database } from '@aps/platform/database';
import { PlainKind, RunSweeper, WORKERS_LOST, type ClaimAnswer, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Replays } from './replaying';
import { ReplaysRepository, type ClaimedReplay } from './replays.repository';
import { CLAIM } from './replays.sql';

/** Of an organization: replays are long, and its chats ask the same models. */
const CAP = 2;

/** A replay, as a durable run: a step is a model call, or the end of an item. */
@Injectable()
export class ReplayKind extends PlainKind<'replay.run', ClaimedReplay> {
  constructor(
    db: Database,
    private readonly repository: ReplaysRepository,
    private readonly replays: Replays,
    sweeper: RunSweeper,
  ) {
    super(db, repository.runs, CLAIM, CAP, sweeper);
  }

  refuse = (run: ClaimAnswer<ClaimedReplay>): Promise<void> =>
    this.repository.fail({ id: run.id }, { code: 'worker_lost', message: `${WORKERS_LOST}.`, retryable: true });
  attributesOf = ({ id, agent_id }: ClaimedReplay): Record<string, string> => ({ 'aps.replay.id': id, 'aps.agent.id': agent_id });

  async drive(run: OwnedRun<ClaimedReplay>, lease: Lease): Promise<string> {
    const replay = await this.repository.load(run.id);
    for (let item = await this.repository.next(run.id); item; item = await this.repository.next(run.id)) {
      lease.requireNext();
      await this.replays.play({ run, replay, lease }, item);
    }
    await this.repository.finish(run);
    return 'done';
  }

  async fail(run: OwnedRun<ClaimedReplay>, error: unknown): Promise<string | null> {
    const known = error instanceof InferenceError || error instanceof TurnBlocked ? error : null;
    if (!known && !this.isGivenUp(run, error)) return null;
    const code = known instanceof InferenceError ? known.code : (known?.stopReason ?? 'internal');
    const message = known?.message ?? 'It could not go on by a fault of ours.';
    await this.repository.fail(run, { code, message, retryable: false });
    return known ? 'blocked' : 'failed';
  }
}
