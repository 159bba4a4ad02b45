import type { Operation } from 'rfc6902';
import { validate } from '@aps/platform/json-schema';
import { patched, PROPOSAL } from './payload-repairs';

const proposal = (operations: unknown[]) => ({ fixable: true, reason: 'x', operations });
const args = () => ({ to: 'a', list: [1, 2], sizes: { length: 3 } });

describe('a proposal', () => {
  it.each<[string, unknown[]]>([
    ['a copy, which makes more of what is there', [{ op: 'copy', from: '/arguments', path: '/arguments/x' }]],
    ['more than fifty operations', Array(51).fill({ op: 'remove', path: '/arguments/x' })],
  ])('is none that has %s', (_, operations) => expect(validate(PROPOSAL, proposal(operations))).toHaveLength(1));

  it('has up to fifty others', () => {
    expect(validate(PROPOSAL, proposal(Array(50).fill({ op: 'move', from: '/arguments/a', path: '/arguments/b' })))).toEqual([]);
  });
});

describe('arguments', () => {
  it.each<[string, Operation, object]>([
    ['by another value', { op: 'replace', path: '/arguments/to', value: 'b' }, { to: 'b' }],
    ['as a whole', { op: 'replace', path: '/arguments', value: { z: 1 } }, { z: 1 }],
    ['in a list', { op: 'add', path: '/arguments/list/-', value: 3 }, { list: [1, 2, 3] }],
    ['whatever a member is called', { op: 'replace', path: '/arguments/sizes/length', value: 9 }, { sizes: { length: 9 } }],
    ['by a move', { op: 'move', from: '/arguments/list/0', path: '/arguments/first' }, { first: 1, list: [2] }],
  ])('are mended %s', (_, operation, mended) => expect(patched(args(), [operation])).toMatchObject(mended));

  it.each<[string, Operation]>([
    ['beyond them', { op: 'add', path: '/other', value: 1 }],
    ['where they come from', { op: 'add', path: '/arguments/constructor/x', value: 1 }],
    ['below a text', { op: 'add', path: '/arguments/to/x', value: 1 }],
    ['below nothing', { op: 'add', path: '/arguments/x/y', value: 1 }],
    ['by the length of a list', { op: 'replace', path: '/arguments/list/length', value: 4_294_967_295 }],
    ['into themselves', { op: 'move', from: '/arguments', path: '/arguments/x' }],
    ['to what is no object', { op: 'replace', path: '/arguments', value: [] }],
  ])('are not mended %s', (_, operation) => expect(patched(args(), [operation])).toBeNull());

  it('do not grow by moves', () => {
    const moves = Array.from({ length: 50 }, (_, i): Operation => ({
      ...{ op: 'move', from: `/arguments/${i ? `list${i}` : 'list'}`, path: `/arguments/list${i + 1}` },
    }));
    expect(patched(args(), moves)).toEqual({ to: 'a', list50: [1, 2], sizes: { length: 3 } });
  });
});
