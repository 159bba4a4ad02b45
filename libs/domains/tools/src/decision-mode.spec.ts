import { DECISION_MODES, isCovered, type DecisionSubject } from './decision-mode';

/** The modes that cover a tool. */
const covering = (tool: DecisionSubject) => DECISION_MODES.filter((mode) => isCovered(mode, tool));

describe('the decision mode of a connection', () => {
  it.each<[string, DecisionSubject, string[]]>([
    ['reads', { accessLevel: 'read' }, ['all']],
    ['writes', { accessLevel: 'write' }, ['write', 'all']],
    ['destroys', { accessLevel: 'destructive' }, ['destructive', 'write', 'all']],
    ['whose server says nothing', { accessLevel: 'write', hints: {} }, ['write', 'all']],
    ['declared read-only', { accessLevel: 'read', hints: { readOnlyHint: true } }, ['all']],
    ['declared not read-only', { accessLevel: 'write', hints: { readOnlyHint: false } }, ['write', 'all']],
    ['declared destructive', { accessLevel: 'destructive', hints: { destructiveHint: true } }, ['destructive', 'write', 'all']],
    ['declared not destructive', { accessLevel: 'write', hints: { destructiveHint: false } }, ['write', 'all']],
    // Nothing is taken from the level once the server has spoken: the counts of what a mode covers are of declarations.
    ['whose level is stricter than its hints', { accessLevel: 'destructive', hints: { readOnlyHint: true } }, ['all']],
  ])('covers a tool that is %s', (_, tool, modes) => {
    expect(covering(tool)).toEqual(modes);
  });
});
