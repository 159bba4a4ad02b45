import { mayDelegate, reachesAgent } from './delegates.policy';

const config = { agent_id: 'me', allowed_tools: [] as string[], denied_tools: [] as string[], child_agent_ids: [] as string[] };
const helper = { id: 'helper-id', slug: 'helper' };

describe('who may delegate to whom', () => {
  it.each([
    ['a child', { child_agent_ids: ['helper-id'] }, true],
    ['the scope of the agent', { allowed_tools: ['agent:helper'] }, true],
    ['everything', { allowed_tools: ['*'] }, true],
    ['another child', { child_agent_ids: ['other-id'] }, false],
    ['the scope of another agent', { allowed_tools: ['agent:helper-2', 'core'] }, false],
    ['a child whose scope is denied', { child_agent_ids: ['helper-id'], denied_tools: ['agent:helper'] }, false],
    ['everything but this agent', { allowed_tools: ['*', 'agent:helper'], denied_tools: ['agent:helper'] }, false],
    [
      'nobody where everything is denied',
      { allowed_tools: ['*', 'agent:helper'], child_agent_ids: ['helper-id'], denied_tools: ['*'] },
      false,
    ],
    ['itself', { agent_id: 'helper-id', allowed_tools: ['*'], child_agent_ids: ['helper-id'] }, false],
  ])('%s', (_, grants, reached) => {
    expect(reachesAgent({ ...config, ...grants }, helper)).toBe(reached);
  });

  it('is offered to those who can reach anybody', () => {
    expect(
      [{ child_agent_ids: ['x'] }, { allowed_tools: ['agent:x'] }, { allowed_tools: ['*'] }, { allowed_tools: ['core', 'system:web'] }].map(
        (grants) => mayDelegate({ ...config, ...grants }),
      ),
    ).toEqual([true, true, true, false]);
  });
});
