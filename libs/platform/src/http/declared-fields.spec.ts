import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { getMetadataStorage, validateSync } from 'class-validator';
import { answeredFields, fieldPaths, instantiate, keepsNumbers, queryKindOf } from './declared-fields';
import { DecimalString, EmailField, IntField, NestedField, ObjectField, StringField } from './fields';
import { rememberRulesByClass } from './rules-by-class';

class Place {
  @StringField({ credential: true }) key: string;
}

class Thing {
  @StringField({ max: 5 }) name: string;
  @EmailField({ nullable: true }) email: string | null;
  @IntField({ min: 1 }) size: number;
  @ObjectField() data: Record<string, unknown>;
  @NestedField(() => Place) place: Place;
  @DecimalString() price: string;
}

class Derived extends Thing {
  @StringField() more: string;
}

const faults = (dto: new () => object, sent: Record<string, unknown>) => validateSync(instantiate(dto, sent)).map((e) => e.property);

/** Nest's own ways to make a class of others; each as large as the first. */
const CLASSES: [string, new () => object][] = [
  ['a class', Thing],
  ['its heir', Derived],
  ['PartialType', PartialType(Thing, { skipNullProperties: false })],
  ['PickType', PickType(Thing, ['name', 'email', 'size', 'data', 'place', 'price'])],
  ['OmitType', OmitType(Derived, ['more'])],
  ['IntersectionType', IntersectionType(PickType(Thing, ['name', 'place', 'data']), OmitType(Thing, ['name', 'place', 'data']))],
];

describe.each(CLASSES)('the fields of %s', (_, dto) => {
  it('are read and judged as they were declared', () => {
    const sent = { name: 'toolong', email: ' a@b.example ', size: 0, data: [], place: { key: 1, junk: 2 }, price: '1', junk: 3 };
    const read = instantiate(dto, sent);
    expect(read).toEqual({ ...sent, email: 'a@b.example', place: { key: 1 }, junk: undefined });
    expect((read as Thing).place).toBeInstanceOf(Place);
    expect(faults(dto, sent)).toEqual(expect.arrayContaining(['name', 'size', 'data', 'place']));
    expect(faults(dto, sent)).not.toContain('email');
  });

  it('may be null where they were declared so, and nowhere else', () => {
    const found = faults(dto, { name: null, email: null, size: null, data: null, place: null, price: null });
    expect(found.filter((field) => field !== 'more').sort()).toEqual(['data', 'name', 'place', 'price', 'size']);
  });

  it('are known for what they are', () => {
    expect(queryKindOf(dto, 'size')).toBe('int');
    expect(queryKindOf(dto, 'toString')).toBeUndefined();
    expect(keepsNumbers(dto, ['data', 'x'])).toBe(true);
    expect(keepsNumbers(dto, ['size'])).toBe(false);
    expect(fieldPaths(dto, ({ credential }) => credential === true)).toEqual([['place', 'key']]);
    expect(answeredFields(dto).filter((field) => field.isDecimal)).toEqual([{ name: 'price', isDecimal: true }]);
  });
});

it('may all be absent in a part', () => {
  expect(faults(PartialType(Thing, { skipNullProperties: false }), {})).toEqual([]);
  expect(faults(Thing, {})).toHaveLength(6);
});

describe('the rules of a class', () => {
  it('are searched for once, and are those that a search finds', () => {
    class Fresh extends Derived {
      @IntField({ max: 3 }) few: number;
    }
    const storage = getMetadataStorage();
    const entries = jest.spyOn((storage as unknown as { validationMetadatas: Map<unknown, unknown> }).validationMetadatas, 'entries');
    rememberRulesByClass();
    const sent = { name: 'toolong', few: 4, more: 1 };
    const first = faults(Fresh, sent);
    expect(first).toEqual(expect.arrayContaining(['name', 'few', 'more']));
    const searched = entries.mock.calls.length;
    expect(searched).toBeGreaterThan(0);
    expect(faults(Fresh, sent)).toEqual(first);
    expect(entries.mock.calls.length).toBe(searched);
    // Who asks for more is answered by the search itself.
    validateSync(instantiate(Fresh, sent), { groups: ['some'] });
    expect(entries.mock.calls.length).toBeGreaterThan(searched);
  });
});
