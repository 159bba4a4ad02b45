import { Injectable } from '@nestjs/common';
import { AgentDelegates, AgentRevisions, AgentsQueries, mayDelegate } from '@aps/agents';
import { ChildWait } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, OrgTable, storable, type Tx } from '@aps/platform/database';
import { defineTool, ToolCatalog, toolError, toolResult, type ToolContext, type ToolEvent, type ToolOutcome } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { ChatStarts } from '../sending/chat-starts';
import { QueueDepth } from '../turns/queue-depth';
import { refusalOf, titleOf } from './delegation.policy';
import { DelegationRepository } from './delegation.repository';

const MAX_TASK_CHARS = 100_000;
const MAX_TIMEOUT_S = 30 * 86_400;

const parameters = z.object({
  agent: z.string().min(1).max(64).describe('Slug or id of the agent'),
  task: z.string().min(1).max(MAX_TASK_CHARS).describe('All that the agent has to know. It sees nothing of this chat.'),
  wait: z.boolean().default(true).describe('Whether you need the result before you go on. Without waiting you are told the result later.'),
  timeout_s: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_S)
    .optional()
    .describe('Seconds after which you go on without the result and are told it later'),
});
type Delegation = z.infer<typeof parameters>;

/** Lets agents have other agents do something: each delegation is a chat of its own. */
@Injectable()
export class DelegateTool {
  private readonly waits = new OrgTable(ChildWait);

  constructor(
    catalog: ToolCatalog,
    private readonly db: Database,
    private readonly rows: DelegationRepository,
    private readonly starts: ChatStarts,
    private readonly agents: AgentsQueries,
    private readonly delegates: AgentDelegates,
    private readonly revisions: AgentRevisions,
    private readonly depth: QueueDepth,
  ) {
    catalog.register(
      defineTool({
        slug: 'delegate_to_agent',
        name: 'delegate_to_agent',
        description:
          'Has another agent do a task in a chat of its own, and gives you what it said last. Several delegations in one step run side by side.',
        scope: 'core',
        openedBy: 'agent',
        accessLevel: 'write',
        waitsFor: 'children',
        availableTo: mayDelegate,
        parameters,
        run: (tx, args, context) => this.run(tx, args, context),
      }),
    );
  }

  private async run(tx: Tx, args: Delegation, context: ToolContext): Promise<ToolOutcome> {
    const scope = OrgScope.system(context.orgId, 'tool delegate_to_agent');
    const task = storable(args.task);
    if (task.trim() === '') return toolError('task: say what is to be done.');

    const chain = await this.rows.chainOf(tx, context.chatId);
    const configs = await Promise.all(chain.map((chat) => this.revisions.config(chat.agent_revision_id, tx)));
    const agent = await this.delegates.hold(tx, scope, { ...context.tools.grants, agent_id: context.agentId }, args.agent);
    const [parent] = chain;
    const id = uuidv7();
    const unit = { chat_id: id, originator: parent.originator };
    const basis = agent && (await this.agents.forNewChat(tx, scope, agent.id, unit));
    // Whether it is there is nobody's business who may not use it.
    if (!agent || !basis) return toolError(`There is no agent ${storable(args.agent)} that you may delegate to.`);
    const waiting = await this.depth.waiting(tx, context.orgId);
    const refusal = refusalOf({
      agent,
      chain: chain.map((chat, i) => ({ agentId: chat.agent_id, depth: chat.depth, maxChildDepth: configs[i].max_child_depth })),
      ...(await this.rows.countBelow(tx, chain[0])),
      waitingTurns: waiting.n,
      maxQueueDepth: waiting.limit,
    });
    if (refusal) return toolError(refusal);

    const at = this.db.now();
    const deadline = args.wait && args.timeout_s !== undefined ? new Date(at.getTime() + args.timeout_s * 1000) : null;
    const { chat_id: childId } = await this.starts.begin(
      tx,
      scope,
      basis,
      {
        id,
        title: titleOf(task),
        // Seen by whoever sees the parent, whose row is locked. What its user has switched off there is off here, too.
        shared: parent.shared,
        created_by: parent.created_by,
        sandbox_enabled: parent.sandbox_enabled,
        enabled_scopes: parent.enabled_scopes,
        parent_chat_id: parent.id,
        root_chat_id: parent.root_chat_id ?? parent.id,
        depth: parent.depth + 1,
        origin_kind: 'agent',
        origin_ref_id: parent.id,
        originator: parent.originator,
      },
      { content: task, principal_id: context.principalId },
    );
    await this.waits.insert(tx, scope, {
      child_chat_id: childId,
      parent_chat_id: context.chatId,
      parent_turn_id: context.turnId,
      tool_call_id: context.toolCallId,
      waits: args.wait,
      deadline_at: deadline,
      created_at: at,
    });

    const started: ToolEvent = {
      type: 'delegation_started',
      data: {
        child_chat_id: childId,
        agent_id: agent.id,
        agent: agent.slug,
        name: agent.name,
        tool_call_id: context.toolCallId,
        turn_id: context.turnId,
        waits: args.wait,
        deadline_at: deadline?.toISOString() ?? null,
      },
    };
    if (args.wait) return { kind: 'wait', ref: childId, ...(deadline && { resumeAt: deadline }), events: [started] };
    const content = { status: 'started', child_chat_id: childId, agent: agent.slug, message: 'You will be told what it came to.' };
    return toolResult(content, [started]);
  }
}
