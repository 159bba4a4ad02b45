import { cutPoint, STEP_LIMIT, storableCalls, storableState, tokensOfRows, transcriptRow, type TranscriptRow } from '@aps/chats';
import { decidedBy, NOTHING_RECORDED } from '@aps/decisions';
import type { DecisionKind } from '@aps/entities';
import type { ChatResult } from '@aps/inference';
import { storable } from '@aps/platform/database';
import { canonicalJson } from '@aps/platform/definitions';

/** What a call is answered that the journal does not know. */
export const SIMULATED = JSON.stringify({ status: 'simulated' });

const MAX_TEXT = 50_000;
/** Shares of a model's window: what is said may fill so much of it, and so much is left where it is more. */
const FILLED_SHARE = 0.75;
const KEPT_SHARE = 0.5;
/** Where a model's window is not known. */
const DEFAULT_WINDOW = 128_000;

/** What calls were answered when they were made, by tool and arguments, in their order. */
export type Journal = ReadonlyMap<string, readonly string[]>;
/** The tool's own name, of what a model called it. */
export type SlugOf = (name: string) => string;

/** What users said before an answer. */
export type Said = TranscriptRow[];

/** What a model said: all that is stored of a replay between its model calls, since the rest follows from it. */
export type Answer = Pick<TranscriptRow, 'content' | 'tool_calls' | 'provider_state'>;

/** How far a replay has come. */
export interface Progress {
  /** What was said since it began, of users and the agent. */
  rows: TranscriptRow[];
  /** Number of the answer at hand, from 0. */
  turn: number;
  /** Model calls that it has taken so far. */
  steps: number;
  /** How often the journal has answered each call. */
  taken: Record<string, number>;
  /** Calls that it could not answer. */
  misses: number;
  isOver: boolean;
}

export interface ReplayedDecision {
  kind: DecisionKind;
  basis: string;
  summary: string;
  tool_slug: string | null;
}

/** What an agent did in a chat, as far as it can be compared. */
export interface Doings {
  /** Slugs of what it called, in their order. */
  tools: string[];
  decisions: ReplayedDecision[];
  final_text: string;
}

export const DIFFERENCES = ['tools', 'decisions', 'final_text'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** A call as the journal knows it: the order of keys and the writing of numbers make no other of it. */
function keyOf(slug: string, args: string): string {
  try {
    return `${slug} ${canonicalJson(args.trim() === '' ? {} : JSON.parse(args))}`;
  } catch {
    return `${slug} ${args}`;
  }
}

const callsOf = (rows: readonly TranscriptRow[]) => rows.flatMap(({ tool_calls }) => tool_calls ?? []);

export function journalOf(rows: readonly TranscriptRow[], slugOf: SlugOf): Journal {
  const results = new Map(
    rows.flatMap((row) => (row.role === 'tool' && row.tool_call_id ? [[row.tool_call_id, row.content] as const] : [])),
  );
  const journal = new Map<string, string[]>();
  for (const { id, name, arguments: args } of callsOf(rows)) {
    const result = results.get(id);
    const key = keyOf(slugOf(name), args);
    if (result !== undefined) journal.set(key, [...(journal.get(key) ?? []), result]);
  }
  return journal;
}

/** @param said what users said, for each answer; at least one */
export const begin = (said: readonly Said[]): Progress => ({ rows: [...said[0]], turn: 0, steps: 0, taken: {}, misses: 0, isOver: false });

/**
 * An answer of the model, as it is stored.
 *
 * @param before what was said before the replay began
 */
export function answerOf(
  result: Pick<ChatResult, 'text' | 'toolCalls' | 'providerState'>,
  { turn, steps, rows }: Pick<Progress, 'turn' | 'steps' | 'rows'>,
  before: readonly TranscriptRow[],
): Answer {
  const calls = storableCalls(result.toolCalls, `${turn}_${steps}`, [...before, ...rows]);
  return { content: storable(result.text), tool_calls: calls.length ? calls : null, provider_state: storableState(result.providerState) };
}

/**
 * Goes on by an answer of the model. Its calls get what they got when they were made; nothing is run.
 *
 * @param of `isLast`: no call of this answer is to be answered
 */
export function advance(
  { rows, turn, steps, taken, misses }: Progress,
  answer: Answer,
  of: { said: readonly Said[]; journal: Journal; slugOf: SlugOf; isLast: boolean },
): Progress {
  const calls = answer.tool_calls ?? [];
  const next: Progress = { rows: [...rows], turn, steps: steps + 1, taken: { ...taken }, misses, isOver: false };
  next.rows.push(transcriptRow({ role: 'assistant', ...answer }));
  for (const { id, name, arguments: args } of calls) {
    const content = of.isLast ? STEP_LIMIT : answerTo(next, keyOf(of.slugOf(name), args), of.journal);
    next.rows.push(transcriptRow({ role: 'tool', content, tool_call_id: id, tool_name: name }));
  }
  if (calls.length > 0 && !of.isLast) return next;
  const said = of.said[turn + 1];
  return said ? { ...next, rows: [...next.rows, ...said], turn: turn + 1, steps: 0 } : { ...next, isOver: true };
}

/** Of what was called several times each answer in its turn, and the last from then on. */
function answerTo(progress: Progress, key: string, journal: Journal): string {
  const answers = journal.get(key);
  if (!answers) {
    progress.misses += 1;
    return SIMULATED;
  }
  const n = progress.taken[key] ?? 0;
  progress.taken[key] = n + 1;
  return answers[Math.min(n, answers.length - 1)];
}

/**
 * How many of the first rows a model is not told: none while all are within its window.
 *
 * @param untold as many as it was not told before: these stay untold, so that the beginning of what it is told stays
 * @param window of the model, in tokens; null where it is not known
 */
export function untoldOf(rows: readonly TranscriptRow[], untold: number, window: number | null): number {
  const tokens = window ?? DEFAULT_WINDOW;
  const told = rows.slice(untold);
  return tokensOfRows(told) <= tokens * FILLED_SHARE ? untold : untold + cutPoint(told, tokens * KEPT_SHARE, 0);
}

/**
 * What a model is told of rows: where some are left out, it is told that they are.
 *
 * @param answered what users said that it answers: it is told wherever it stands
 */
export function toldOf(rows: TranscriptRow[], untold: number, answered: Said): TranscriptRow[] {
  if (untold === 0) return rows;
  const summary = rows[0].role === 'summary' ? rows[0].content : '';
  return [
    transcriptRow({ role: 'summary', content: summary, left_out: untold }),
    ...rows.slice(0, untold).filter((row) => answered.includes(row)),
    ...rows.slice(untold),
  ];
}

export function doingsOf(rows: readonly TranscriptRow[], slugOf: SlugOf): Doings {
  const calls = callsOf(rows);
  return {
    tools: calls.map(({ name }) => slugOf(name)),
    decisions: decisionsOf(calls, rows, slugOf),
    final_text: (rows.findLast(({ role }) => role === 'assistant')?.content ?? '').slice(0, MAX_TEXT),
  };
}

/** How many decisions of these rows come before that of a call; null where they have no such call. */
export function decidedBefore(rows: readonly TranscriptRow[], callId: string, slugOf: SlugOf): number | null {
  const calls = callsOf(rows);
  const place = calls.findIndex(({ id }) => id === callId);
  return place < 0 ? null : decisionsOf(calls.slice(0, place), rows, slugOf).length;
}

/** The decisions among these calls. The rows have their answers: a call that was refused is none. Models know a tool by its name, too. */
function decisionsOf(calls: ReturnType<typeof callsOf>, rows: readonly TranscriptRow[], slugOf: SlugOf): ReplayedDecision[] {
  const unrecorded = new Set(rows.filter(({ content }) => content.endsWith(NOTHING_RECORDED)).map(({ tool_call_id }) => tool_call_id));
  return calls.flatMap(({ id, name, arguments: args }) => {
    const decided = slugOf(name) === 'record_decision' && !unrecorded.has(id) && decidedBy(args);
    if (!decided) return [];
    const { kind, basis, summary, tool_slug } = decided;
    return [{ kind, basis, summary, tool_slug: tool_slug === undefined ? null : slugOf(tool_slug) }];
  });
}

/** Decisions are the same where they are of one kind and about one tool, whatever they say of it. */
export function differencesOf(before: Doings, after: Doings): Difference[] {
  const decided = ({ decisions }: Doings) => decisions.map(({ kind, tool_slug }) => [kind, tool_slug]);
  const same: Record<Difference, (of: Doings) => unknown> = {
    tools: ({ tools }) => tools,
    decisions: decided,
    final_text: (of) => of.final_text,
  };
  return DIFFERENCES.filter((name) => canonicalJson(same[name](before)) !== canonicalJson(same[name](after)));
}

/** A decision that is checked, as it was when the check began. */
export interface CheckedDecision {
  decision_id: string;
  turn_id: string;
  /** The call that recorded it. */
  tool_call_id: string;
  /** One that is right as it is: `guard`. */
  set: 'regression' | 'guard';
  kind: DecisionKind;
  basis: string;
  summary: string;
  should_have: string | null;
  should_have_kind: DecisionKind | null;
}

export const VERDICTS = ['agrees', 'differs', 'no_decision', 'unjudged', 'error'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** @returns null where words have to be compared */
export function verdictByKind({ set, kind, should_have_kind }: CheckedDecision, now: ReplayedDecision | undefined): Verdict | null {
  if (!now) return 'no_decision';
  const wanted = set === 'guard' ? kind : should_have_kind;
  return wanted && (now.kind === wanted ? 'agrees' : 'differs');
}
