import type { ToolSet, ToolSpec } from '@aps/tools';
import type { AgentContext, Told } from '@aps/agents';
import type { TurnWait } from '@aps/entities';
import type { HoldingWork, ResolvedModel } from '@aps/inference';
import type { Lease, OwnedRun } from '@aps/platform/runs';
import type { TranscriptRow } from '../state/chat.types';
import type { TurnSignals } from './turn-signals';
import type { ClaimedTurn } from './turn.repository';

/** A turn that this process owns. */
export type OwnedTurn = OwnedRun<ClaimedTurn>;

/** A turn under way, in memory. */
export interface RunningTurn {
  readonly claim: OwnedTurn;
  /** What its agent has, as it was when the turn was taken up. */
  readonly config: AgentContext;
  /** What it is told beside that, once it is known. */
  told?: Told;
  readonly lease: Lease;
  /** Of who has begun the chat. */
  readonly budget: HoldingWork['budget'];
  /** What it may call. */
  readonly tools: ToolSet;
  /** What of that its model is told of, once it is known. */
  offered?: ToolSpec[];
  /** Names of those that were chosen for it, where there are too many. */
  chosenTools?: string[];
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
  /** Its rows were to be compacted, and could not be. */
  uncompacted?: true;
  /** Tells the chat's readers what happens. */
  readonly signals: TurnSignals;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
}

/** What of a turn says how its models are asked; that of one which nobody has begun yet, too. */
export interface CallingTurn extends Pick<RunningTurn, 'config' | 'told' | 'tools' | 'offered' | 'chosenTools' | 'rows' | 'modelSteps'> {
  readonly claim: Pick<
    OwnedTurn,
    | 'org_id'
    | 'chat_id'
    | 'agent_id'
    | 'principal_id'
    | 'enabled_scopes'
    | 'max_steps'
    | 'origin'
    | 'model'
    | 'model_mode_override'
    | 'chat_mode'
    | 'reasoning_effort'
    | 'unpriced_allowed'
  >;
  readonly lease: Pick<RunningTurn['lease'], 'signal'>;
  /** How long it is waited for what its documents say; left out: as long as a turn does. */
  readonly readingMs?: number;
}
