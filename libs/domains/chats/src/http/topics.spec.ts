import { parseTopics } from './topics';

const ORG = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const id = (n: number) => `0193488e-8a8c-7cc2-b7a5-${String(n).padStart(12, '0')}`;
const names = (text?: string) => parseTopics(text, ORG).map(({ name }) => name);
const problemsOf = (text: string): unknown => {
  try {
    return names(text);
  } catch (error) {
    return (error as { problems: { loc: string[]; type: string }[] }).problems.map(({ loc, type }) => `${loc.join('.')} ${type}`);
  }
};

describe('topics of a stream', () => {
  it('are listed once each, in one spelling, in the order given', () => {
    expect(
      names(` CHAT:${id(1).toUpperCase()},org,chat:${id(1)},,run:${id(2)}, env:${id(3)},inbox:inb_0123456789abcdefghjkmnpqrs`),
    ).toEqual([`chat:${id(1)}`, 'org', `run:${id(2)}`, `env:${id(3)}`, 'inbox:inb_0123456789abcdefghjkmnpqrs']);
  });

  it('are the organization alone when none is named; its channel is its own', () => {
    for (const text of [undefined, '', ' , ']) expect(parseTopics(text, ORG)).toEqual([{ name: 'org', topic: `org:${ORG}` }]);
  });

  it.each([
    'x',
    'chat:',
    'chat:1',
    `chats:${id(1)}`,
    `org:${ORG}`,
    `chat:${id(1)};org`,
    `chat:${id(1)} ${id(2)}`,
    'inbox:1',
    `chat:${id(1)}\0`,
  ])('refuse %j', (text) => {
    expect(problemsOf(text)).toEqual(['query.topics value_error']);
  });

  it('are fifty at most, and all that is wrong is said at once', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `chat:${id(i)}`).join();
    expect(problemsOf(many(50))).toHaveLength(50);
    expect(problemsOf(many(51))).toEqual(['query.topics too_long']);
    expect(problemsOf(`${many(50)},x`)).toEqual(['query.topics value_error', 'query.topics too_long']);
  });
});
