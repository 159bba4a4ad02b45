import { Injectable } from '@nestjs/common';
import { ConnectionCalls, ConnectionsQueries, nests, toolSlug, type ConnectionWithTools } from '@aps/connections';
import { connectionId } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { StepTools, type StepTool, type StepToolResult, type StepToolSource } from './step-tools';

/** What a step is told of a refusal, characters. */
const MAX_REFUSAL = 2_000;

/** The tools of connections that everybody has: a run acts on nobody's behalf. */
@Injectable()
export class ConnectionStepTools implements StepToolSource {
  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsQueries,
    private readonly calls: ConnectionCalls,
    tools: StepTools,
  ) {
    tools.registerSource(this);
  }

  /** Of a connection that is out of order, too: what it calls is as it was. */
  async find(orgId: string, slug: string): Promise<StepTool | null> {
    const dot = slug.indexOf('.');
    if (dot < 1) return null;
    const of = { userId: null, slugs: [slug.slice(0, dot)], tool: slug.slice(dot + 1) };
    const [connection] = await this.connections.withTools(this.db, OrgScope.system(orgId, 'tools of steps'), of);
    const [tool] = connection?.tools ?? [];
    return tool ? this.toolOf(connection, tool) : null;
  }

  async slugs(orgId: string): Promise<string[]> {
    const connections = await this.connections.outlines(this.db, OrgScope.system(orgId, 'tools of steps'), null);
    return connections.flatMap(({ slug, tools }) => tools.map(({ name }) => toolSlug(slug, name)));
  }

  private toolOf(connection: ConnectionWithTools, tool: ConnectionWithTools['tools'][number]): StepTool {
    const { name, access_level: accessLevel, hints, input_schema } = tool;
    return {
      slug: toolSlug(connection.slug, name),
      accessLevel,
      idempotent: hints.idempotentHint === true,
      inputSchema: input_schema,
      connectionId: connectionId(connection.id),
      call: async (args, { orgId, idempotencyKey, signal }): Promise<StepToolResult> => {
        const call = { name, args, idempotencyKey, signal, progressed: () => undefined };
        const { content, isError } = await this.calls.call({ orgId, connectionId: connection.id, principalId: null }, call);
        return isError ? { failed: content.slice(0, MAX_REFUSAL) } : { output: outputOf(content) };
      },
    };
  }
}

/** An object or a list as what it is, so that expressions reach into it; all else as the text that it is. */
function outputOf(content: string): unknown {
  if (!/^\s*[[{]/.test(content)) return content;
  try {
    const output = JSON.parse(content) as unknown;
    return nests(output) ? content : output;
  } catch {
    return content;
  }
}
