import { isUuid } from '@aps/contracts';

export const ACTIONS = ['accept', 'drop', 'quarantine', 'hold', 'continue'] as const;
export type Action = (typeof ACTIONS)[number];

/** What ends the evaluation. */
export const TERMINAL_ACTIONS = ['accept', 'drop', 'quarantine', 'hold'] as const;
export type TerminalAction = (typeof TERMINAL_ACTIONS)[number];

/** What a gate does with what it finds. */
export const GATE_ACTIONS = ['accept', 'drop', 'quarantine'] as const;
export type GateAction = (typeof GATE_ACTIONS)[number];

export const TARGET_KINDS = ['agent', 'process'] as const;

/** Who handles what is accepted. */
export interface Target {
  kind: (typeof TARGET_KINDS)[number];
  id: string;
}

/** An id of a target as it is compared: of an agent, a UUID, which may be written in capitals. */
export const targetId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** What follows where a stage, a label or nothing has matched. */
export interface Outcome<A extends Action = Action> {
  action: A;
  /** Null: the inbox's default handler. */
  target: Target | null;
  tags: string[];
}

export interface Gates {
  auto_submitted: GateAction;
  dmarc_fail: GateAction;
  max_attachments: number;
}

export const DEFAULT_GATES: Readonly<Gates> = { auto_submitted: 'drop', dmarc_fail: 'accept', max_attachments: 20 };

export type Scalar = string | number | boolean;

export interface Leaf {
  field: string;
  op: Op;
  value: Scalar | Scalar[];
}

export type Condition = { any: Condition[] } | { all: Condition[] } | { not: Condition } | Leaf;

export interface MatchStage {
  id: string;
  kind: 'match';
  when: Condition;
  then: Outcome;
}

export interface ClassifierLabel extends Outcome {
  label: string;
}

export interface ClassifierStage {
  id: string;
  kind: 'classifier';
  instruction: string;
  labels: ClassifierLabel[];
  /** Null: the organization's model for classifiers. */
  model: string | null;
  min_confidence: number;
  below: Action;
  on_error: Action;
}

export type Stage = MatchStage | ClassifierStage;

/** A definition as it is meant: all that may be left out is there. */
export interface RuleSet {
  schema_version: 1;
  /** Where no stage has decided. */
  default: Outcome<TerminalAction>;
  gates: Gates;
  stages: Stage[];
}

/** What holds for an inbox that has no revision. */
export const EMPTY_RULE_SET: RuleSet = {
  schema_version: 1,
  default: { action: 'accept', target: null, tags: [] },
  gates: DEFAULT_GATES,
  stages: [],
};

/** What an op is given as its value. */
export const VALUE_OF = {
  eq: 'scalar',
  neq: 'scalar',
  in: 'scalars',
  not_in: 'scalars',
  contains: 'fragment',
  not_contains: 'fragment',
  starts_with: 'fragment',
  ends_with: 'fragment',
  matches: 'pattern',
  exists: 'flag',
  gt: 'number',
  gte: 'number',
  lt: 'number',
  lte: 'number',
  domain_in: 'domains',
} as const;

export type Op = keyof typeof VALUE_OF;
export const OPS = Object.keys(VALUE_OF) as [Op, ...Op[]];

/** Ops that hold where the other does not, and so where the message lacks the field. */
export const NEGATED = { neq: 'eq', not_in: 'in', not_contains: 'contains' } as const;

/**
 * `texts` holds where any of them does. `any` is what others have written, a text, a number, a boolean or a list of them: the value of the
 * rule says as which of these it is compared, so that a form's "12" is more than 9.
 */
export type FieldKind = 'text' | 'address' | 'texts' | 'number' | 'any';

const FIELDS = new Map<string, FieldKind>([
  ['channel', 'text'],
  ['sender.address', 'address'],
  ['sender.domain', 'address'],
  ['sender.name', 'text'],
  ['recipient', 'address'],
  ['subject', 'text'],
  ['body.text', 'text'],
  ['attachments.count', 'number'],
  ['attachments.types', 'texts'],
  ['attachments.names', 'texts'],
  ['auth.spf', 'text'],
  ['auth.dkim', 'text'],
  ['auth.dmarc', 'text'],
  ['size_bytes', 'number'],
  ['tags', 'texts'],
]);

export const HEADERS = 'headers.';
export const PAYLOAD = 'payload.';

/** The names of fields, for who has misspelt one. */
export const FIELD_NAMES = [...FIELDS.keys(), `${HEADERS}<name>`, `${PAYLOAD}<path>`];

const HEADER_FIELD = /^headers\.[\w!#$%&'*+.^`|~-]{1,100}$/;

/**
 * Keys of objects and indexes of lists, joined by dots: `payload.items.0.name`. A key that has a dot, a bracket or a blank in it cannot be
 * named; `items[0]` is refused, as it would be looked for as a key.
 */
const PAYLOAD_FIELD = /^payload(\.[^.[\]\s\p{Cc}\p{Cs}]{1,100}){1,20}$/u;

/** @returns null where there is no such field */
export const fieldKindOf = (field: string): FieldKind | null =>
  FIELDS.get(field) ?? (HEADER_FIELD.test(field) || PAYLOAD_FIELD.test(field) ? 'any' : null);

const TEXT_OPS = ['eq', 'neq', 'in', 'not_in', 'contains', 'not_contains', 'starts_with', 'ends_with', 'matches', 'exists'] as const;

export const OPS_OF: Readonly<Record<FieldKind, readonly Op[]>> = {
  text: TEXT_OPS,
  texts: TEXT_OPS,
  address: [...TEXT_OPS, 'domain_in'],
  number: ['eq', 'neq', 'in', 'not_in', 'exists', 'gt', 'gte', 'lt', 'lte'],
  any: OPS,
};

export type ScalarType = 'string' | 'number' | 'boolean';

/** What a field is compared with by `eq` and `in`. */
export const SCALARS_OF: Readonly<Record<FieldKind, readonly ScalarType[]>> = {
  text: ['string'],
  texts: ['string'],
  address: ['string'],
  number: ['number'],
  any: ['string', 'number', 'boolean'],
};
