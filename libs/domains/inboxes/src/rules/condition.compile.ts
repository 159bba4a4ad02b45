import { domainToASCII } from 'node:url';
import { compilePattern } from '@aps/platform/definitions';
import { readerOf, type FieldReader, type FieldValue, type MessageView } from './message-view';
import { NEGATED, type Condition, type Leaf, type Op, type Scalar } from './rule-set.schema';

export type Test = (message: MessageView) => boolean;
type FieldTest = (value: FieldValue) => boolean;

/** Longer ones are no domains. */
const MAX_DOMAIN = 253;

/** The fields that conditions ask for, each once. */
export class FieldIndex {
  readonly readers: FieldReader[] = [];
  private readonly places = new Map<string, number>();

  add(field: string): number {
    const known = this.places.get(field);
    if (known !== undefined) return known;
    this.places.set(field, this.readers.length);
    return this.readers.push(readerOf(field)) - 1;
  }

  placeOf(field: string): number | undefined {
    return this.places.get(field);
  }
}

/** A condition as a function, with all that does not depend on the message worked out. */
export function compileCondition(condition: Condition, fields: FieldIndex): Test {
  if ('any' in condition) {
    const tests = condition.any.map((inner) => compileCondition(inner, fields));
    return (message) => tests.some((test) => test(message));
  }
  if ('all' in condition) {
    const tests = condition.all.map((inner) => compileCondition(inner, fields));
    return (message) => tests.every((test) => test(message));
  }
  if ('not' in condition) {
    const test = compileCondition(condition.not, fields);
    return (message) => !test(message);
  }
  const place = fields.add(condition.field);
  const test = compileLeaf(condition);
  return (message) => test(message.at(place));
}

/** What a field lacks has no element, so no op holds of it but those that say what it is not. */
function compileLeaf({ op, value }: Leaf): FieldTest {
  const positive = isNegated(op) ? NEGATED[op] : null;
  if (positive) {
    const test = testOf(positive, value);
    return (found) => !test(found);
  }
  return testOf(op as PositiveOp, value);
}

type PositiveOp = Exclude<Op, keyof typeof NEGATED>;
const isNegated = (op: Op): op is keyof typeof NEGATED => op in NEGATED;

function testOf(op: PositiveOp, value: Leaf['value']): FieldTest {
  switch (op) {
    case 'exists':
      return ({ present }) => present === value;
    case 'eq':
    case 'in':
      return amongTest([value].flat());
    case 'contains':
      return textTest(value, 'searchedLower', (text, part) => text.includes(part));
    case 'starts_with':
      return textTest(value, 'lower', (text, part) => text.startsWith(part));
    case 'ends_with':
      return textTest(value, 'lower', (text, part) => text.endsWith(part));
    case 'matches':
      return patternTest(String(value));
    case 'gt':
      return numberTest(value, (number, bound) => number > bound);
    case 'gte':
      return numberTest(value, (number, bound) => number >= bound);
    case 'lt':
      return numberTest(value, (number, bound) => number < bound);
    case 'lte':
      return numberTest(value, (number, bound) => number <= bound);
    case 'domain_in':
      return domainTest([value].flat());
  }
}

const textTest = (value: Leaf['value'], form: 'lower' | 'searchedLower', holds: (text: string, part: string) => boolean): FieldTest => {
  const part = String(value).toLowerCase();
  return (found) => found[form].some((text) => holds(text, part));
};

const numberTest = (value: Leaf['value'], holds: (number: number, bound: number) => boolean): FieldTest => {
  const bound = Number(value);
  return ({ numbers }) => numbers.some((number) => holds(number, bound));
};

/** Whether any element is one of the values: a number that is written as a text is that number, a text that is not is that text. */
function amongTest(values: readonly Scalar[]): FieldTest {
  const numbers = new Set(values.filter((value) => typeof value === 'number'));
  const texts = new Set(values.filter((value) => typeof value !== 'number').map((value) => String(value).toLowerCase()));
  return (found) =>
    (texts.size > 0 && found.lower.some((text) => texts.has(text))) ||
    (numbers.size > 0 && found.numbers.some((number) => numbers.has(number)));
}

/** @throws Error of a pattern that is none: whoever compiles a rule set has asked for its problems */
function patternTest(source: string): FieldTest {
  const pattern = compilePattern(source);
  if ('problem' in pattern) throw new Error('A rule set is compiled whose patterns have problems.');
  return ({ searched }) => searched.some((text) => pattern.test(text));
}

/** Whether the domain of any element is one of these or below one: all that ends with a dot and one of them is. */
function domainTest(values: readonly Scalar[]): FieldTest {
  const domains = new Set(values.map((value) => asciiDomain(String(value).toLowerCase())));
  return ({ lower }) => lower.some((text) => isWithin(domainIn(text), domains));
}

function isWithin(domain: string, domains: ReadonlySet<string>): boolean {
  if (domain.length > MAX_DOMAIN) return false;
  for (let from = 0; from >= 0;) {
    if (domains.has(domain.slice(from))) return true;
    const dot = domain.indexOf('.', from);
    from = dot < 0 ? dot : dot + 1;
  }
  return false;
}

/** The domain of an address, which may stand in brackets as in headers, or be a domain itself. */
function domainIn(text: string): string {
  const tail = text.slice(text.lastIndexOf('@') + 1);
  const end = tail.search(/[>\s,;]/);
  return asciiDomain(end < 0 ? tail : tail.slice(0, end));
}

/** As addresses are kept. What cannot be written so stays as it is. */
const asciiDomain = (domain: string): string =>
  domain.length > MAX_DOMAIN || /^[\x00-\x7f]*$/.test(domain) ? domain : domainToASCII(domain) || domain;
