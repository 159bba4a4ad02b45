import { Injectable } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { checkSchema, validate, type Schema } from '@aps/platform/json-schema';
import { ToolCatalog, type ParsedArguments, type Tool, type ToolCaller, type ToolSource } from '@aps/tools';
import { ConnectionsQueries, type ConnectionWithTools } from '../connections.queries';
import { ConnectionCalls } from './connection-calls';
import { toolName, toolSlug } from './tool-names.policy';

type ListedTool = ConnectionWithTools['tools'][number];

/** Brings the tools of connections into turns: those of the organization, and those of who the turn acts for. */
@Injectable()
export class ConnectionTools implements ToolSource {
  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsQueries,
    private readonly calls: ConnectionCalls,
    catalog: ToolCatalog,
  ) {
    catalog.registerSource(this);
  }

  /** Asks no database for an agent that no connection is granted to. */
  async toolsOf({ orgId, principalId, grants }: ToolCaller): Promise<Tool[]> {
    const slugs = connectionsIn(grants.allowed_tools);
    if (slugs?.length === 0) return [];
    const scope = OrgScope.system(orgId, 'tools of a turn');
    const connections = await this.connections.withTools(this.db, scope, { userId: principalId, status: 'active', slugs });
    return connections.flatMap((connection) => connection.tools.map((tool) => this.toolOf(connection, tool)));
  }

  /** A tool as agents call it, and as it is shown. */
  toolOf(connection: ConnectionWithTools, { name, description, input_schema: schema, access_level: accessLevel, hints }: ListedTool): Tool {
    return {
      slug: toolSlug(connection.slug, name),
      name: toolName(connection.slug, name),
      description,
      scope: `con:${connection.slug}`,
      accessLevel,
      hints,
      connectionId: connection.id,
      decisionMode: connection.decision_mode,
      schema,
      parse: (raw) => parse(schema, raw),
      callOut: async (args, { orgId, principalId, idempotencyKey, signal, progressed }) => {
        const call = { name, args: args as Record<string, unknown>, idempotencyKey, signal, progressed };
        return { kind: 'result', ...(await this.calls.call({ orgId, principalId, connectionId: connection.id }, call)) };
      },
    };
  }
}

/** Slugs of the connections that grants name, in whole or by a tool; null: all. */
function connectionsIn(allowed: readonly string[]): string[] | null {
  if (allowed.includes('*')) return null;
  const slugs = allowed.flatMap((scope) => {
    if (scope.startsWith('con:')) return [scope.slice('con:'.length)];
    const dot = scope.indexOf('.');
    return dot > 0 ? [scope.slice(0, dot)] : [];
  });
  return [...new Set(slugs)];
}

const ANY_OBJECT: Schema = { type: 'object' };

/**
 * A schema that cannot be checked here is its server's to check: of the arguments it is then asked that they are an object. It is checked by our
 * draft, whichever it names: servers of the SDK name an older one at every tool, and what is written otherwise there cannot be checked or says nothing.
 */
export const checkable = ({ $schema: _draft, ...schema }: Schema): Schema =>
  checkSchema(schema) === null ? { ...schema, type: 'object' } : ANY_OBJECT;

function parse(schema: Schema, raw: unknown): ParsedArguments {
  const problems = validate(checkable(schema), raw).map(({ path, message }) => `${path || 'arguments'}: ${message}`);
  return problems.length ? { ok: false, problems } : { ok: true, value: raw };
}
