import { mayRead, mayWrite, readsAll, readsBase, writesBase } from './grants.policy';

const BASE = { id: 'id', slug: 'books' };
const grants = (allowed_tools: string[], denied_tools: string[] = [], knowledge_base_ids: string[] = []) => ({
  allowed_tools,
  denied_tools,
  knowledge_base_ids,
});

describe('what an agent may do with a base', () => {
  it.each([
    ['nothing', grants(['core']), [false, false, false, false, false]],
    ['by its id', grants([], [], ['id']), [true, true, false, false, false]],
    ['by name', grants(['kb:books']), [true, true, false, false, false]],
    ['by name, to write', grants(['kb:books:write']), [true, true, true, true, false]],
    ['by all', grants(['*']), [true, true, true, true, true]],
    ['another one', grants(['kb:bookshelf', 'kb:other:write']), [true, false, true, false, false]],
    ['denied by name', grants(['*'], ['kb:books'], ['id']), [true, false, true, false, false]],
    ['denied to write', grants(['*'], ['kb:books:write']), [true, true, true, false, true]],
    ['denied by all', grants(['kb:books:write'], ['*'], ['id']), [true, false, true, false, false]],
  ])('%s', (_, given, expected) => {
    expect([mayRead(given), readsBase(given, BASE), mayWrite(given), writesBase(given, BASE), readsAll(given)]).toEqual(expected);
  });
});
