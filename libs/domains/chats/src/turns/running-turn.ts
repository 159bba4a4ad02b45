import type { SealedAgentConfig } from '@aps/agents';
import type { TurnWait } from '@aps/entities';
import type { ResolvedModel } from '@aps/inference';
import type { Lease, OwnedRun } from '@aps/platform/runs';
import type { TranscriptRow } from '../chat.types';
import type { TurnSignals } from './turn-signals';
import type { ClaimedTurn } from './turn.repository';

/** A turn that this process owns. */
export type OwnedTurn = OwnedRun<ClaimedTurn>;

/** A turn under way, in memory. */
export interface RunningTurn {
  readonly claim: OwnedTurn;
  readonly config: SealedAgentConfig;
  readonly lease: Lease;
  /** Whether its organization records decisions and asks for them. */
  readonly decisionLog: boolean;
  /** The messages that the model sees, own ones included; grows with every step. */
  readonly rows: TranscriptRow[];
  /** Steps that are finished; since they end in their order, the next one has the number after it. */
  stepsDone: number;
  /** Model steps of this turn so far. */
  modelSteps: number;
  /** What the turn waits for: calls that are being made, or, with `since`, those of a wait that is over. */
  wait: TurnWait | null;
  /** The model of this turn, once it is known. */
  model?: ResolvedModel;
  /** Tells the chat's readers what happens. */
  readonly signals: TurnSignals;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
}
