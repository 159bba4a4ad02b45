import type { Decision, DecisionKind, ReviewStatus } from '@aps/entities';

/** A decision as it is read; the organization is known, and when it was last written is nobody's business. */
export type DecisionRow = Omit<Decision, 'org_id' | 'updated_at'>;

/** Which decisions of an agent; what is left out does not matter. */
export interface DecisionFilter {
  kind?: DecisionKind | null;
  review_status?: ReviewStatus | null;
  deviation?: boolean | null;
  /** True: determinations alone. False is no filter. */
  determination?: boolean | null;
  /** The archive, or the live queue; never both. */
  archived?: boolean | null;
}

/** Decisions that cite the same basis, word for word. */
export interface DecisionGroup {
  basis: string;
  count: number;
  unreviewed: number;
  disputed: number;
  latest_at: Date;
  /** The newest, at most three. */
  sample_decision_ids: string[];
}

/** What is done to many at once. */
export type BulkAction = 'archive' | 'unarchive' | 'review';

/** Which decisions: these, or those that a filter finds. Exactly one of the two. */
export interface BulkSelection {
  decision_ids?: string[] | null;
  filter?: DecisionFilter | null;
}

export interface BulkResult {
  /** Decisions that were changed by this call, and by no other. */
  updated: number;
  /** Decisions that the caller may see and has selected. */
  matched: number;
  /** Of those, the ones that were already so or may not be touched. */
  unchanged: number;
}

/** What a human thinks of a decision. */
export interface Review {
  review_status: Exclude<ReviewStatus, 'unreviewed'>;
  review_note?: string | null;
  /** What it should have been. Only a dispute says so. */
  should_have?: string | null;
}

/** What an agent decided, in its own words. */
export interface NewDecision {
  kind: DecisionKind;
  summary: string;
  basis: string;
  rationale?: string;
  /** The tool that it decides on, by its slug or by what the model calls it. */
  tool_slug?: string;
  arguments?: Record<string, unknown>;
  deviation: boolean;
  determination: boolean;
  /** From 0 to 1. */
  confidence?: number;
}

/** Where a decision is made. */
export interface DecisionPlace {
  orgId: string;
  chatId: string;
  turnId: string;
  toolCallId: string;
}
