import { DomainError } from '@aps/contracts';
import { MAX_RENDERED_CHARS, render } from './variables.policy';

const filled = (text: string, variables: Record<string, unknown> = {}) => render({ text }, variables).text;

describe('variables', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['{{a}} and {{ a }}, {{\tb_2}}', { a: 'x', b_2: 'y' }, 'x and x, y'],
    ['{{a}}', { a: '{{b}} {{a}}', b: 'never' }, '{{b}} {{a}}'],
    ['{{a}}', { a: '$& $1 $$' }, '$& $1 $$'],
    ['{{n}} {{o}} {{l}} {{z}} {{t}}', { n: 1.5, o: { a: [1] }, l: ['x'], z: null, t: true }, '1.5 {"a":[1]} ["x"] null true'],
    ['{a} {{}} {{ }} {{a b}} {{1}} {{a\n}}', {}, '{a} {{}} {{ }} {{a b}} {{1}} {{a\n}}'],
    ['{{größe}} {{a.b-c}}', { größe: 'groß', 'a.b-c': 'd' }, 'groß d'],
    ['{{{a}}}', { a: 'x' }, '{x}'],
  ])('%j are filled in once', (text, variables, expected) => expect(filled(text, variables)).toBe(expected));

  it('are all named when they are missing, and what every object has is none', () => {
    const texts = { text: '{{a}} {{constructor}} {{b}} {{__proto__}}', instructions: '{{c}} {{a}}' };
    const refused = (): DomainError => {
      try {
        render(texts, { b: '' });
      } catch (error) {
        return error as DomainError;
      }
      throw new Error('It was not refused.');
    };
    expect([refused().code, refused().problems?.map(({ loc }) => loc.join('.'))]).toEqual([
      'missing_variables',
      ['a', 'constructor', '__proto__', 'c'].map((name) => `body.variables.${name}`),
    ]);
    expect(render({ a: '{{__proto__}}' }, JSON.parse('{"__proto__":"x"}') as Record<string, unknown>)).toEqual({ a: 'x' });
  });

  it('may not make a prompt of any length', () => {
    expect(filled('{{a}}{{a}}', { a: 'x'.repeat(MAX_RENDERED_CHARS / 2) })).toHaveLength(MAX_RENDERED_CHARS);
    expect(() => filled('{{a}}'.repeat(20_000), { a: 'x'.repeat(1_000_000) })).toThrow(
      expect.objectContaining({ code: 'prompt_too_long' }),
    );
  });
});
