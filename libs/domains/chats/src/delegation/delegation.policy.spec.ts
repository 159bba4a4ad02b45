import { childResult, MAX_CHILD_RESULT_CHARS } from './child-result';
import { MAX_CHILDREN_AT_WORK, MAX_DESCENDANTS, refusalOf, titleOf, type ChainLink, type DelegationSubject } from './delegation.policy';

const link = (agentId: string, depth: number, maxChildDepth = 5): ChainLink => ({ agentId, depth, maxChildDepth });
const subject = (over: Partial<DelegationSubject>): DelegationSubject => ({
  agent: { id: 'target', slug: 'target' },
  chain: [link('root', 0)],
  childrenAtWork: 0,
  descendants: 0,
  waitingTurns: 0,
  maxQueueDepth: -1,
  ...over,
});

describe('whether a chat may delegate', () => {
  it.each<[string, Partial<DelegationSubject>, RegExp | null]>([
    ['from a root', {}, null],
    ['to an agent above', { chain: [link('lead', 1), link('target', 0)] }, /circle/],
    ['to itself', { chain: [link('target', 0)] }, /circle/],
    ['to the fifth level', { chain: [4, 3, 2, 1, 0].map((depth) => link(`a${depth}`, depth)) }, null],
    ['to the sixth level', { chain: [5, 4, 3, 2, 1, 0].map((depth) => link(`a${depth}`, depth, 9)) }, /deeper/],
    ['where its own agent allows no level', { chain: [link('root', 0, 0)] }, /deeper/],
    ['as deep as its own agent allows below it', { chain: [link('lead', 3, 1), link('a2', 2), link('a1', 1), link('root', 0)] }, null],
    ['deeper than the root allows', { chain: [link('lead', 1, 5), link('root', 0, 1)] }, /deeper/],
    ['with room for one more child', { childrenAtWork: MAX_CHILDREN_AT_WORK - 1 }, null],
    ['with all its children at work', { childrenAtWork: MAX_CHILDREN_AT_WORK }, /at work already/],
    ['with one chat left for its root', { descendants: MAX_DESCENDANTS - 1 }, null],
    ['with none left', { descendants: MAX_DESCENDANTS }, /no more/],
    ['with room in the queue', { waitingTurns: 9, maxQueueDepth: 10 }, null],
    ['with a full queue', { waitingTurns: 10, maxQueueDepth: 10 }, /wait already/],
    ['with no queue at all', { waitingTurns: 0, maxQueueDepth: 0 }, /wait already/],
  ])('%s', (_, over, refused) => {
    const refusal = refusalOf(subject(over));
    if (refused) expect(refusal).toMatch(refused);
    else expect(refusal).toBeNull();
  });
});

describe('the title of a child chat', () => {
  it('is the first line of its task, cut between characters', () => {
    expect([
      titleOf('\n Look it up \nand tell'),
      titleOf('x'.repeat(80)),
      titleOf('x'.repeat(81)),
      titleOf(`${'x'.repeat(78)}😀y`),
    ]).toEqual(['Look it up', 'x'.repeat(80), `${'x'.repeat(79)}…`, `${'x'.repeat(78)}…`]);
  });
});

describe('what a parent is told of a child', () => {
  const child = { id: 'c', agent: 'a', said: 'words', error: null, stop_reason: null };

  it('has what it said last, and why there is no more', () => {
    expect(childResult('done', child)).toEqual({ status: 'done', child_chat_id: 'c', agent: 'a', result: 'words' });
    expect(childResult('failed', { ...child, said: null, error: { code: 'x', message: 'y' } })).toEqual({
      status: 'failed',
      child_chat_id: 'c',
      agent: 'a',
      error: { code: 'x', message: 'y' },
    });
    expect(childResult('archived', { ...child, stop_reason: 'credits_exhausted' })).toMatchObject({
      result: 'words',
      error: { code: 'credits_exhausted' },
    });
  });

  it('is cut where it is too long, between characters', () => {
    const { result } = childResult('done', { ...child, said: `${'x'.repeat(MAX_CHILD_RESULT_CHARS - 1)}😀 and more` });
    expect(result).toMatch(/^x+\n\n\[cut: /);
    expect(result!.isWellFormed()).toBe(true);
  });
});
