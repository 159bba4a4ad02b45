import type { Problem } from '@aps/contracts';
import { DefinitionReader, oversize, type Place } from '@aps/platform/definitions';
import {
  ACTIONS,
  DEFAULT_GATES,
  EMPTY_RULE_SET,
  FIELD_NAMES,
  fieldKindOf,
  GATE_ACTIONS,
  OPS,
  OPS_OF,
  SCALARS_OF,
  targetId,
  TARGET_KINDS,
  TERMINAL_ACTIONS,
  VALUE_OF,
  type Action,
  type ClassifierLabel,
  type ClassifierStage,
  type Condition,
  type FieldKind,
  type Gates,
  type Leaf,
  type MatchStage,
  type Op,
  type Outcome,
  type RuleSet,
  type Scalar,
  type Stage,
  type Target,
} from './rule-set.schema';

/** Of the definition's JSON, however it was written. */
export const MAX_BYTES = 128 * 1024;
const MAX_STAGES = 50;
/** How deep `any`, `all` and `not` may nest, the leaf counted. */
export const MAX_DEPTH = 10;
/** Comparisons of all stages together: what a message may cost is made of them. */
export const MAX_LEAVES = 500;
const MAX_LABELS = 50;
const MAX_TAGS = 20;
const MAX_FIELD = 500;
const MAX_VALUE = 1_000;
/** Longer ones are searched for in time that grows with both lengths: V8 prepares no more of what it looks for. */
const MAX_FRAGMENT = 250;
const MAX_INSTRUCTION = 20_000;
const MAX_NAME = 200;

const STAGE_ID = { pattern: /^[a-z][a-z0-9_-]{0,63}$/, msg: 'String should match ^[a-z][a-z0-9_-]{0,63}$' };
const NAME = { pattern: /^\S(.*\S)?$/s, msg: 'String should not begin or end with a blank' };
const DOMAIN = { pattern: /^[^\s@.]+(\.[^\s@.]+)*$/, msg: 'String should be a domain, like example.com' };

/** A rule set, or all that keeps the definition from being one; places are below the definition. */
export type RuleSetReading = { ruleSet: RuleSet } | { problems: Problem[] };

/** Reads a definition of which nothing is known: its shape alone, whatever else stands behind its targets, models and patterns. */
export function readRuleSet(definition: unknown): RuleSetReading {
  const tooLarge = oversize(definition, MAX_BYTES);
  if (tooLarge) return { problems: [{ loc: [], ...tooLarge }] };
  const reader = new RuleSetReader();
  const ruleSet = reader.ruleSet(definition);
  return reader.problems.length ? { problems: reader.problems } : { ruleSet };
}

class RuleSetReader extends DefinitionReader {
  private leaves = 0;

  ruleSet(value: unknown): RuleSet {
    if (value === undefined || value === null) this.refuse([], 'Input should be an object', 'dict_type');
    const keys = this.object(value, [], [], ['schema_version', 'default', 'gates', 'stages']);
    if (keys.has('schema_version') && keys.get('schema_version') !== 1)
      this.refuse(['schema_version'], 'Input should be 1', 'literal_error');
    const fallback = keys.has('default') ? this.outcome(keys.get('default'), ['default'], TERMINAL_ACTIONS) : EMPTY_RULE_SET.default;
    const stages = this.list(keys.get('stages'), ['stages'], { max: MAX_STAGES }, (stage, loc) => this.stage(stage, loc));
    this.refuseRepeated(stages, ['stages'], 'id');
    if (this.leaves > MAX_LEAVES) this.refuse(['stages'], `Stages should have at most ${MAX_LEAVES} comparisons`, 'too_long');
    return { schema_version: 1, default: fallback, gates: this.gates(keys.get('gates'), ['gates']), stages };
  }

  private gates(value: unknown, loc: Place): Gates {
    const keys = this.object(value, loc, [], Object.keys(DEFAULT_GATES));
    const action = (key: 'auto_submitted' | 'dmarc_fail') =>
      keys.has(key) ? this.oneOf(keys.get(key), [...loc, key], GATE_ACTIONS) : DEFAULT_GATES[key];
    return {
      auto_submitted: action('auto_submitted'),
      dmarc_fail: action('dmarc_fail'),
      max_attachments: keys.has('max_attachments')
        ? this.number(keys.get('max_attachments'), [...loc, 'max_attachments'], { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true })
        : DEFAULT_GATES.max_attachments,
    };
  }

  private stage(value: unknown, loc: Place): Stage {
    const kind: unknown = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : null;
    if (kind === 'classifier') return this.classifierStage(value, loc);
    if (kind === 'match' || kind === null) return this.matchStage(value, loc);
    this.oneOf(kind, [...loc, 'kind'], ['match', 'classifier']);
    return { id: '', kind: 'match', when: { all: [] }, then: EMPTY_RULE_SET.default };
  }

  private matchStage(value: unknown, loc: Place): MatchStage {
    const keys = this.object(value, loc, ['id', 'kind', 'when', 'then']);
    return {
      id: this.stageId(keys.get('id'), loc),
      kind: 'match',
      when: this.condition(keys.get('when'), [...loc, 'when'], 1),
      then: this.outcome(keys.get('then'), [...loc, 'then'], ACTIONS),
    };
  }

  private classifierStage(value: unknown, loc: Place): ClassifierStage {
    const keys = this.object(value, loc, ['id', 'kind', 'instruction', 'labels'], ['model', 'min_confidence', 'below', 'on_error']);
    const action = (key: 'below' | 'on_error'): Action => (keys.has(key) ? this.oneOf(keys.get(key), [...loc, key], ACTIONS) : 'hold');
    const labels = this.list(keys.get('labels'), [...loc, 'labels'], { min: 1, max: MAX_LABELS }, (label, at) => this.label(label, at));
    this.refuseRepeated(labels, [...loc, 'labels'], 'label');
    return {
      id: this.stageId(keys.get('id'), loc),
      kind: 'classifier',
      instruction: this.text(keys.get('instruction'), [...loc, 'instruction'], { max: MAX_INSTRUCTION }),
      labels,
      model: keys.has('model') ? this.text(keys.get('model'), [...loc, 'model'], { max: MAX_NAME }) : null,
      min_confidence: this.number(keys.get('min_confidence'), [...loc, 'min_confidence'], { min: 0, max: 1 }),
      below: action('below'),
      on_error: action('on_error'),
    };
  }

  private stageId(value: unknown, loc: Place): string {
    return this.text(value, [...loc, 'id'], { max: 64, form: STAGE_ID });
  }

  private label(value: unknown, loc: Place): ClassifierLabel {
    const label = typeof value === 'object' && value !== null && 'label' in value ? value.label : undefined;
    return {
      label: this.text(label, [...loc, 'label'], { max: 100, form: NAME }),
      ...this.outcome(value, loc, ACTIONS, ['label']),
    };
  }

  private outcome<A extends Action>(value: unknown, loc: Place, actions: readonly [A, ...A[]], beside: string[] = []): Outcome<A> {
    const keys = this.object(value, loc, [...beside, 'action'], ['target', 'tags']);
    const action = this.oneOf(keys.get('action'), [...loc, 'action'], actions);
    if (keys.has('target') && action !== 'accept') this.refuse([...loc, 'target'], 'Only what is accepted has a target');
    const tags = this.list(keys.get('tags'), [...loc, 'tags'], { max: MAX_TAGS }, (tag, at) => this.text(tag, at, { max: 64, form: NAME }));
    return { action, target: keys.has('target') ? this.target(keys.get('target'), [...loc, 'target']) : null, tags };
  }

  private target(value: unknown, loc: Place): Target {
    const keys = this.object(value, loc, ['kind', 'id']);
    return {
      kind: this.oneOf(keys.get('kind'), [...loc, 'kind'], TARGET_KINDS),
      id: targetId(this.text(keys.get('id'), [...loc, 'id'], { max: MAX_NAME, form: NAME })),
    };
  }

  private condition(value: unknown, loc: Place, depth: number): Condition {
    if (depth > MAX_DEPTH) {
      this.refuse(loc, `Conditions may nest ${MAX_DEPTH} levels deep`);
      return { all: [] };
    }
    const has = (key: string) => typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    const each = (key: string) =>
      this.list(this.object(value, loc, [key]).get(key), [...loc, key], { min: 1 }, (inner, at) => this.condition(inner, at, depth + 1));
    if (has('any')) return { any: each('any') };
    if (has('all')) return { all: each('all') };
    if (has('not')) return { not: this.condition(this.object(value, loc, ['not']).get('not'), [...loc, 'not'], depth + 1) };
    return this.leaf(value, loc);
  }

  private leaf(value: unknown, loc: Place): Leaf {
    this.leaves += 1;
    const keys = this.object(value, loc, ['field', 'op'], ['value']);
    const field = this.text(keys.get('field'), [...loc, 'field'], { max: MAX_FIELD });
    const kind = fieldKindOf(field);
    if (field && !kind) this.refuse([...loc, 'field'], `Unknown field; known are ${FIELD_NAMES.join(', ')}`, 'enum');
    if (!keys.has('op')) return { field, op: 'exists', value: true };
    const op = this.oneOf(keys.get('op'), [...loc, 'op'], OPS);
    if (op !== keys.get('op') || !kind) return { field, op, value: true };
    if (!OPS_OF[kind].includes(op)) this.refuse([...loc, 'op'], `The field takes ${OPS_OF[kind].join(', ')}`);
    else if (!keys.has('value') && op !== 'exists') this.refuse([...loc, 'value'], 'Field required', 'missing');
    return { field, op, value: this.value(op, kind, keys.get('value'), [...loc, 'value']) };
  }

  private value(op: Op, kind: FieldKind, value: unknown, loc: Place): Leaf['value'] {
    switch (VALUE_OF[op]) {
      case 'flag':
        return value === undefined ? true : this.boolean(value, loc);
      case 'number':
        return this.comparable(value, loc);
      case 'fragment':
        return this.text(value, loc, { max: MAX_FRAGMENT });
      case 'pattern':
        return this.text(value, loc, { max: MAX_VALUE });
      case 'scalar':
        return this.scalar(value, kind, loc);
      case 'scalars':
        return this.list(value, loc, { min: 1 }, (item, at) => this.scalar(item, kind, at));
      case 'domains':
        return this.list(value, loc, { min: 1 }, (item, at) => this.text(item, at, { max: 253, form: DOMAIN }));
    }
  }

  private scalar(value: unknown, kind: FieldKind, loc: Place): Scalar {
    if (typeof value === 'boolean' && SCALARS_OF[kind].includes('boolean')) return value;
    if (typeof value === 'number' && SCALARS_OF[kind].includes('number')) return this.comparable(value, loc);
    if (SCALARS_OF[kind].includes('string')) return this.text(value, loc, { max: MAX_VALUE, min: 0 });
    return this.comparable(value, loc);
  }

  /** A number that is in JSON what it is in a double. */
  private comparable(value: unknown, loc: Place): number {
    return this.number(value, loc, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
  }

  private refuseRepeated<K extends string>(items: readonly Record<K, string>[], loc: Place, key: K): void {
    const seen = new Set<string>();
    items.forEach(({ [key]: name }, i) => {
      if (name && seen.has(name)) this.refuse([...loc, i, key], `Another of them has the ${key}`);
      seen.add(name);
    });
  }
}
