import { MODEL_MODES, type Problem, requireValid } from '@aps/contracts';
import { COST_TIERS, MODEL_KINDS } from '@aps/entities';
import { isObject } from '@aps/platform/definitions';
import { CREDIT_UNITS, type CreditRule } from './rate-card.policy';

type Place = (string | number)[];
/** Returns the value as it is kept, or undefined where it is none. */
type Reader = (value: unknown) => string | boolean | undefined;
interface Field {
  read: Reader;
  says: string;
}

const NAME_CHARACTERS = 255;
const isText = (value: unknown): value is string => typeof value === 'string';
const name: Reader = (value) => (isText(value) && value.length > 0 && value.length <= NAME_CHARACTERS ? value : undefined);
const oneOf =
  (values: readonly string[]): Reader =>
  (value) =>
    values.find((known) => known === value);

const DECIMAL = /^\d{1,14}(\.\d{1,6})?$/;
const decimal: Reader = (value) => {
  const written = typeof value === 'number' ? String(value) : value;
  return isText(written) && DECIMAL.test(written) ? written : undefined;
};

const MATCH: Record<keyof CreditRule['match'], Field> = {
  feature: { read: name, says: 'Input should be a feature, by its name' },
  kind: { read: oneOf(MODEL_KINDS), says: `Input should be one of ${MODEL_KINDS.join(', ')}` },
  provider: { read: name, says: 'Input should be a provider, by its name' },
  model_key: { read: name, says: 'Input should be the key of a model' },
  cost_tier: { read: oneOf(COST_TIERS), says: `Input should be one of ${COST_TIERS.join(', ')}` },
  mode: { read: oneOf(MODEL_MODES), says: `Input should be one of ${MODEL_MODES.join(', ')}` },
  byo_key: { read: (value) => (typeof value === 'boolean' ? value : undefined), says: 'Input should be a valid boolean' },
};
const NOT_NEGATIVE = { read: decimal, says: 'Input should be a decimal, not negative, with at most 6 digits after the point' };
const PRICE: Record<Exclude<keyof CreditRule, 'match'>, Field> = {
  multiplier: NOT_NEGATIVE,
  credits_per_unit: NOT_NEGATIVE,
  unit: { read: oneOf(CREDIT_UNITS), says: `Input should be one of ${CREDIT_UNITS.join(', ')}` },
  min_credits: NOT_NEGATIVE,
};

/**
 * Rules as they are kept; null is as good as absent, and what a rule has no field for is left out.
 *
 * @throws DomainError `validation_error` that names each problem by its full path: a rule that charges nothing, or a value that is none
 */
export function rulesOf(sent: readonly Record<string, unknown>[]): CreditRule[] {
  const problems: Problem[] = [];
  const rules = sent.map((rule, i) => ruleOf(rule, ['body', 'rules', i], problems));
  requireValid(problems);
  return rules;
}

function ruleOf({ match, ...price }: Record<string, unknown>, loc: Place, problems: Problem[]): CreditRule {
  const here = [...loc, 'match'];
  if (!isObject(match)) problems.push({ loc: here, msg: 'Input should be a valid object', type: 'dict_type' });
  const matched = isObject(match) ? read(match, MATCH, here, problems) : {};
  const charged = read(price, PRICE, loc, problems) as Omit<CreditRule, 'match'>;
  const said = Object.keys(PRICE).filter((field) => price[field] !== null && price[field] !== undefined);
  if (!said.some((field) => field !== 'unit'))
    problems.push({ loc, msg: 'A rule should say what it charges: multiplier, credits_per_unit or min_credits', type: 'missing' });
  else if ((charged.credits_per_unit === undefined) !== (charged.unit === undefined) && !problems.length)
    problems.push({ loc, msg: 'credits_per_unit and unit go together', type: 'missing' });
  return { match: matched, ...charged };
}

function read(sent: Record<string, unknown>, fields: Record<string, Field>, loc: Place, problems: Problem[]) {
  const kept: Record<string, string | boolean> = {};
  for (const [field, { read, says }] of Object.entries(fields)) {
    const value = Object.hasOwn(sent, field) ? sent[field] : null;
    if (value === null || value === undefined) continue;
    const taken = read(value);
    if (taken !== undefined) kept[field] = taken;
    else problems.push({ loc: [...loc, field], msg: says, type: 'value_error' });
  }
  return kept;
}
