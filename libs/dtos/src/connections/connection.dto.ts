import { IntersectionType, PickType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  PageOf,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { IdOrNone } from '../common';

export const CONNECTION_METHODS = ['oauth2', 'api_key', 'bearer', 'basic', 'mcp_oauth', 'mcp_token', 'none'] as const;
export type ConnectionMethod = (typeof CONNECTION_METHODS)[number];
const STATUSES = ['initiated', 'active', 'error', 'expired', 'disabled'] as const;
const SWITCHED = ['active', 'disabled'] as const;
const SCOPES = ['private', 'org'] as const;
const DECISION_MODES = ['off', 'destructive', 'write', 'all'] as const;

const IN_WHICH_WAY = 'How it proves who it is.';
const WHICH_CALLS =
  'Which calls of its tools need a recorded decision of the agent that makes them, or that runs a process which makes them. Steps of processes that people, inboxes or schedules begin need none.';
const WHOSE = '`private`: there for its owner alone; `org`: for every member.';
const ID = { description: 'The connection.', example: 'con_01k7064ynw9qxx294f5k2fqv7n' };

export class CreateConnectionRequest {
  @StringField({ min: 1, max: 64, description: 'What is connected, of the catalog.', example: 'custom-mcp' }) app_key: string;
  @EnumField(CONNECTION_METHODS, { name: 'ConnectionMethod', description: IN_WHICH_WAY, example: 'bearer' }) method: ConnectionMethod;

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 120,
    pattern: /\S/,
    patternMessage: 'String should not be blank',
    description: 'What people call it. Default: the name of the app.',
    example: 'Issue tracker',
  })
  label?: string | null;

  @EnumField(SCOPES, { optional: true, default: 'private', description: WHOSE, example: 'private' }) scope?: (typeof SCOPES)[number];
  @EnumField(DECISION_MODES, { optional: true, default: 'off', description: WHICH_CALLS, example: 'write' })
  decision_mode?: (typeof DECISION_MODES)[number];

  @ObjectField({
    optional: true,
    description: 'By the names of the fields that the method has. They are encrypted, and never shown again.',
    example: { token: 'a-token-of-the-server' },
  })
  credentials?: Record<string, unknown>;

  @StringField({
    optional: true,
    nullable: true,
    max: 2_048,
    description: 'Where a custom server is: https, at a public address.',
    example: 'https://tools.example.com/mcp',
  })
  server_url?: string | null;

  @ObjectField({
    optional: true,
    description: 'At most 20 headers that every request to the server has; their values are secrets.',
    example: { 'X-Workspace': 'acme' },
  })
  headers?: Record<string, unknown>;
}

/** Fields that are absent stay as they are. */
export class UpdateConnectionRequest {
  @StringField({
    optional: true,
    min: 1,
    max: 120,
    pattern: /\S/,
    patternMessage: 'String should not be blank',
    description: 'What people call it.',
    example: 'Issue tracker',
  })
  label?: string;

  @EnumField(DECISION_MODES, { optional: true, description: WHICH_CALLS, example: 'write' })
  decision_mode?: (typeof DECISION_MODES)[number];
  @EnumField(SWITCHED, { optional: true, description: 'Whether its tools may be used.', example: 'active' })
  status?: (typeof SWITCHED)[number];
}

export class ReconnectRequest extends PickType(CreateConnectionRequest, ['credentials', 'headers']) {}

export class AcknowledgeDependentsQuery {
  @BooleanField({ optional: true, default: false, description: 'Go on, although others lose it.' }) acknowledge_dependents?: boolean;
}

export class SetConnectionOwnerRequest {
  @UuidField({ description: 'A member of the organization.' }) owner_user_id: string;
}

export class SetConnectionScopeRequest extends AcknowledgeDependentsQuery {
  @EnumField(SCOPES, { description: WHOSE, example: 'org' }) scope: (typeof SCOPES)[number];
}

const WILDCARDS = 'Agents of the organization that may use every tool there is; they are not among the others.';

/** What everybody who hears of a connection is told. */
class ConnectionOutline {
  @StringField(ID) id: string;
  @StringField({ description: 'Its short name: its tools are granted by `con:{slug}`.', example: 'issue-tracker' }) slug: string;
  @StringField({ description: 'What people call it.', example: 'Issue tracker' }) label: string;
  @StringField({ description: 'What is connected, of the catalog.', example: 'custom-mcp' }) app_key: string;
  @StringField({ description: 'What connections of one service have in common.', example: 'custom-mcp' }) provider_key: string;
  @EnumField(CONNECTION_METHODS, { name: 'ConnectionMethod', description: IN_WHICH_WAY, example: 'bearer' }) method: ConnectionMethod;
  @EnumField(STATUSES, {
    description:
      '`initiated`: somebody has to consent first; `error`: its server does not let it in, or has never answered; `expired`: the consent is over; `disabled`: switched off.',
    example: 'active',
  })
  status: (typeof STATUSES)[number];
  @EnumField(DECISION_MODES, { description: WHICH_CALLS, example: 'write' }) decision_mode: (typeof DECISION_MODES)[number];
  @EnumField(SCOPES, { description: WHOSE, example: 'org' }) scope: (typeof SCOPES)[number];
  @UuidField({ nullable: true, description: 'Who owns it; null: who did has left.' }) owner_user_id: string | null;
}

/** A tool server that is connected. */
export class ConnectionResponse extends ConnectionOutline {
  @UuidField({ description: 'The same as a UUID. Operations take either.' }) integration_id: string;
  @UuidField({ nullable: true, description: 'The project it belongs to.' }) project_id: string | null;
  @ListField('uuid', { description: 'Agents whose draft or live revision names it or one of its tools.' }) used_by_agent_ids: string[];
  @IntField({ description: WILDCARDS, example: 1 }) wildcard_agent_count: number;
  @BooleanField({ description: 'Whether knowledge can be made of what its server holds.' }) knowledge_capable: boolean;
  @StringField({ nullable: true, description: 'The end of its credentials.', example: '…4f2a' }) credential_hint: string | null;
  @StringField({ nullable: true, description: 'Where a custom server is, without its query.', example: 'https://tools.example.com/mcp' })
  server_url: string | null;
  @ObjectField({ description: 'Its headers, with their values masked.', example: { 'X-Workspace': '…' } }) headers: Record<string, string>;
  @StringField({ nullable: true, description: 'Why its server was not reached last.', example: null }) last_error: string | null;
  @DateTimeField({ nullable: true, description: 'When its access token is over; it is renewed by itself.', example: null }) expires_at:
    string | null;
  @IntField({ description: 'How many tools it has.', example: 7 }) tool_count: number;
  @DateTimeField({ nullable: true, description: 'When its tools were listed last.' }) tools_listed_at: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export class ConnectionListQuery extends PageQuery {
  @IdOrNone('Only connections in this project, or `none`.') project_id?: string;
}

export class ConnectionListResponse extends PageOf(ConnectionResponse) {
  @IntField({ description: WILDCARDS, example: 1 }) wildcard_agent_count: number;
}

/** Where somebody has to consent, if anywhere. */
class Whither {
  @StringField({
    nullable: true,
    credential: true,
    description: 'Where somebody has to consent; null where nobody has to, or the server did not say.',
    example: null,
  })
  authorize_url: string | null;
  @DateTimeField({ nullable: true, description: 'Until when they can.', example: null }) expires_at: string | null;
}

export class CreateConnectionResponse extends Whither {
  @NestedField(() => ConnectionResponse, { description: 'What was made.' }) connection: ConnectionResponse;
}

export class AuthorizationResponse {
  @StringField({ credential: true, description: 'Where to consent.', example: 'https://auth.example.com/authorize?client_id=x' })
  authorize_url: string;
  @DateTimeField({ description: 'Until when.' }) expires_at: string;
}

export class ConfirmConsentRequest {
  @StringField({ min: 1, max: 256, description: 'What the browser that came back was led on with.', example: 'q4Vb1y0fM2hS8wTnXcR3aLk7' })
  state: string;
}

/** What authorization servers send people back with. */
export class OAuthCallbackQuery {
  @StringField({ optional: true, max: 4_096, description: 'What the consent is taken by.' }) code?: string;
  @StringField({ optional: true, max: 4_096, description: 'What they were sent there with.' }) state?: string;
  @StringField({ optional: true, max: 2_048, description: 'Which authorization server it is.' }) iss?: string;
  @StringField({ optional: true, max: 4_096, description: 'Why there is no consent.' }) error?: string;
}

/** What the server of a connection has answered. */
export class ConnectionTestResponse {
  @BooleanField({ description: 'Whether it lets the connection in, and lists its tools.' }) ok: boolean;
  @StringField({ description: 'The same in a sentence.', example: 'The server answers. It has 7 tools.' }) message: string;
}

export class ReconnectResponse extends IntersectionType(ConnectionTestResponse, Whither) {}

/** A connection as administrators see all of them. */
export class StewardedConnectionResponse extends ConnectionOutline {
  @StringField({ nullable: true, description: 'Address of who owns it.', example: 'ada@example.com' }) owner_email: string | null;
  @IntField({ description: 'How many things of the organization name it.', example: 2 }) dependent_count: number;
  @DateTimeField({ nullable: true, description: 'When one of its tools was called last.' }) last_used_at: string | null;
}
