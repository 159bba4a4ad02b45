import { BooleanField, DateTimeField, EnumField, IntField, ListField, NestedField, ObjectField, StringField } from '@aps/platform/http';

const SOURCE_KINDS = ['builtin', 'connection'] as const;
const SCOPE_KINDS = ['system', 'knowledge', 'connection', 'agent', 'process', 'prompt'] as const;
const LEVELS = ['read', 'write', 'destructive'] as const;
const STATUSES = ['initiated', 'active', 'error', 'expired', 'disabled'] as const;
const SCOPES = ['private', 'org'] as const;
const DECISION_MODES = ['off', 'destructive', 'write', 'all'] as const;

const CONNECTION = { description: 'The connection.', example: 'con_01k7064ynw9qxx294f5k2fqv7n' };
const SLUG = { description: 'Its short name.', example: 'issue-tracker' };
const LABEL = { description: 'What people call it.', example: 'Issue tracker' };
const TOOL_COUNT = { description: 'How many tools it has.', example: 7 };
const ACCESS_LEVEL = {
  name: 'ToolAccessLevel',
  description: 'What calls do; where nothing says so, they write.',
  example: 'read',
};

/** Where tools come from. */
export class ToolSourceResponse {
  @EnumField(SOURCE_KINDS, {
    name: 'ToolSourceKind',
    description: 'Whether the platform has them, or the server of a connection.',
    example: 'connection',
  })
  kind: (typeof SOURCE_KINDS)[number];
  @StringField(SLUG) slug: string;
  @StringField(LABEL) label: string;
  @StringField({ description: 'The tool scope that grants all of them.', example: 'con:issue-tracker' }) grant: string;
  @StringField({ ...CONNECTION, nullable: true, description: 'The connection; null for what is built in.' }) connection_id: string | null;
  @EnumField(SCOPES, { nullable: true, description: 'Whose the connection is; null for what is built in.', example: 'org' })
  scope: (typeof SCOPES)[number] | null;
  @EnumField(STATUSES, { description: 'Its tools are called while it is `active`.', example: 'active' }) status: (typeof STATUSES)[number];
  @IntField(TOOL_COUNT) tool_count: number;
  @DateTimeField({ nullable: true, description: 'Since when its tools could not be listed anew; those that it had stay.', example: null })
  stale_since: string | null;
  @StringField({ nullable: true, description: 'Why its server was not reached last.', example: null }) last_error: string | null;
}

export class ToolSourcesResponse {
  @ListField(() => ToolSourceResponse, { description: 'What is built in first.' }) items: ToolSourceResponse[];
}

/** A tool that the caller’s agents can be granted. */
export class ToolResponse {
  @StringField({ description: 'What models call it.', example: 'issue-tracker__create_issue' }) name: string;
  @StringField({ description: 'The tool scope that grants all tools of its source.', example: 'con:issue-tracker' }) source: string;
  @StringField({ description: 'What models are told of it.', example: 'Creates an issue.' }) description: string;
  @StringField({ description: 'How it is granted by itself, and recorded.', example: 'issue-tracker.create_issue' }) slug: string;
  @StringField({
    description: 'What stands behind it: `builtin:` and its slug, or a connection and what its server calls it.',
    example: 'con_01k7064ynw9qxx294f5k2fqv7n/create_issue',
  })
  backend_ref: string;
  @EnumField(LEVELS, ACCESS_LEVEL) access_level: (typeof LEVELS)[number];
  @BooleanField({ description: 'Whether a call ends the turn.' }) is_terminal: boolean;
  @BooleanField({ description: 'Whether a call may wait, for a human, a time or another agent.' }) is_pausable: boolean;
}

/** Tools that every agent has. */
export class CoreScopeResponse {
  @StringField({ description: 'What people call them.', example: 'Core tools' }) label: string;
  @IntField({ description: 'How many there are.', example: 7 }) tool_count: number;
  @ListField('string', { description: 'Their slugs.' }) tool_slugs: string[];
}

/** Something that an agent can be granted. */
export class GrantableScopeResponse {
  @StringField({ description: 'The tool scope.', example: 'con:issue-tracker' }) scope: string;
  @StringField(LABEL) label: string;
  @EnumField(SCOPE_KINDS, { name: 'ToolScopeKind', description: 'What stands behind it.', example: 'connection' })
  source_kind: (typeof SCOPE_KINDS)[number];
  @IntField({ description: 'How many tools it gives.', example: 7 }) tool_count: number;
  @ListField('string', { description: 'Their slugs.' }) tool_slugs: string[];
  @BooleanField({ nullable: true, description: 'Whether the agent of `agent_id` has it; null without one.', example: null }) granted:
    boolean | null;
}

export class GrantableScopesResponse {
  @NestedField(() => CoreScopeResponse, { description: 'What every agent has.' }) core: CoreScopeResponse;
  @ListField(() => GrantableScopeResponse, { description: 'By kind, then by scope; at most 1,000 of each kind.' })
  items: GrantableScopeResponse[];
}

export class GrantableScopesQuery {
  @StringField({ optional: true, min: 1, max: 64, description: 'An agent, by id or slug, to say what it is granted.', example: 'support' })
  agent_id?: string;
}

/** How many tools each decision mode covers. */
export class CoveredTools {
  @IntField({ description: 'None.', example: 0 }) off: number;
  @IntField({ description: 'Those that their server declares destructive.', example: 1 }) destructive: number;
  @IntField({ description: 'Those that their server does not declare read-only.', example: 4 }) write: number;
  @IntField({ description: 'All.', example: 7 }) all: number;
}

/** What decision modes would cover of the tools of a connection. */
export class DecisionCoverage {
  @StringField(CONNECTION) connection_id: string;
  @StringField(SLUG) slug: string;
  @StringField(LABEL) label: string;
  @EnumField(DECISION_MODES, { description: 'Which of its calls need a recorded decision now.', example: 'write' })
  decision_mode: (typeof DECISION_MODES)[number];
  @IntField(TOOL_COUNT) tools_total: number;
  @NestedField(() => CoveredTools, { description: 'How many of them each mode covers.' }) covered: CoveredTools;
}

export class DecisionCoverageResponse {
  @ListField(() => DecisionCoverage, { description: 'The connections that the caller sees, by slug.' }) items: DecisionCoverage[];
}

export class RefreshToolsRequest {
  @BooleanField({
    optional: true,
    default: false,
    description:
      'Accept what servers say now of tools that they have described otherwise before. Until somebody does, the old text and the higher level hold.',
  })
  accept_changes?: boolean;
}

export class RefreshedServer {
  @StringField(CONNECTION) connection_id: string;
  @StringField({ description: 'What people call it.', example: 'Issue tracker' }) server: string;
  @StringField(SLUG) slug: string;
  @IntField(TOOL_COUNT) tool_count: number;
}

export class FailedServer {
  @StringField(CONNECTION) connection_id: string;
  @StringField({ description: 'What people call it.', example: 'Issue tracker' }) server: string;
  @StringField({ description: 'Why it was not reached.', example: 'The server took too long to answer.' }) error: string;
}

/** What of a tool people look at before they let agents use it. */
export class ToolTermsResponse {
  @StringField({ nullable: true, description: 'What it is called.', example: 'Create issue' }) title: string | null;
  @StringField({ description: 'What models are told of it.', example: 'Creates an issue.' }) description: string;
  @EnumField(LEVELS, ACCESS_LEVEL) access_level: (typeof LEVELS)[number];
  @ObjectField({ nullable: true, description: 'JSON Schema of its arguments, with its words; null where it has not changed.' })
  input_schema: Record<string, unknown> | null;
}

export class ChangedTool {
  @StringField({ description: 'The tool.', example: 'issue-tracker.create_issue' }) slug: string;
  @NestedField(() => ToolTermsResponse, { description: 'What was accepted.' }) was: ToolTermsResponse;
  @NestedField(() => ToolTermsResponse, { description: 'What its server says.' }) now: ToolTermsResponse;
  @BooleanField({ description: 'Whether that holds from now on.' }) accepted: boolean;
}

/** What servers have answered. */
export class ToolRefreshResponse {
  @ListField(() => RefreshedServer, { description: 'Those that have answered.' }) refreshed: RefreshedServer[];
  @ListField(() => FailedServer, { description: 'Those that have not; the tools that they had stay.' }) failed: FailedServer[];
  @IntField({ description: 'How many tools those that answered have.', example: 7 }) tools_total: number;
  @ListField(() => ChangedTool, { description: 'Tools of which servers say something else than what was accepted.' })
  changed: ChangedTool[];
}
