import { TOOL_NAME } from '@aps/tools';
import { toolName, toolSlug } from './tool-names.policy';

describe('the name of a connection’s tool', () => {
  it.each([
    ['github', 'create_issue', 'github__create_issue'],
    ['github-2', 'x', 'github-2__x'],
  ])('of %s is what its server calls %s', (connection, tool, name) => expect(toolName(connection, tool)).toBe(name));

  it('is one that models can call, and no other’s', () => {
    const odd = ['a.b', 'a/b', 'a_b', 'x'.repeat(128), `${'x'.repeat(127)}y`, 'é', '💥'];
    const names = ['con', 'con-1', 'c'.repeat(64)].flatMap((slug) => odd.map((tool) => toolName(slug, tool)));
    expect(names.filter((name) => !TOOL_NAME.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(toolName('con', 'a.b')).toBe(toolName('con', 'a.b'));
  });

  it('stands beside a slug that says whose it is', () => expect(toolSlug('github', 'issues.create')).toBe('github.issues.create'));
});
