import { AgentsService } from '@aps/agents';
import { OrgScope } from '@aps/guards';
import { script, type ChatsService, type TestOrg } from './chats';

/** An organization whose agent, a boss, may delegate to `helper` and `leaf`, and the helper to the leaf. */
export async function delegatingOrg(app: ChatsService): Promise<TestOrg> {
  const org = await app.org();
  const agents = app.get(AgentsService);
  const owner = OrgScope.member(org.id, org.owner.id, 'OWNER');
  const leaf = await agents.create(owner, { name: 'Leaf' });
  const helper = await agents.create(owner, { name: 'Helper', child_agent_ids: [leaf.id] });
  const boss = await agents.create(owner, { name: 'Boss', child_agent_ids: [helper.id, leaf.id] });
  return { ...org, agentId: boss.id, path: `/api/orgs/${org.id}/agents/${boss.id}/chats` };
}

/** A message that has the agent delegate a task and wait for it. */
export const delegate = (task: string, to: 'helper' | 'leaf' = 'leaf'): string =>
  script({ tool_calls: [{ name: 'delegate_to_agent', arguments: { agent: to, task } }] }, { text: 'delegated' });
