import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Project } from '../projects/projects.entities';
import { OwnedRow } from '../orgs/owned-row.entity';
import { DatedOrgRow } from '../rows';

/** How a connection proves who it is to its server. */
export type ConnectionMethod = 'oauth2' | 'api_key' | 'bearer' | 'basic' | 'mcp_oauth' | 'mcp_token' | 'none';

/** What a server says of a tool that calls go by. */
export interface ToolTerms {
  title: string | null;
  description: string;
  /** JSON Schema of the arguments. */
  input_schema: Record<string, unknown>;
  hints: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
}

/** A tool server that an organization, or one of its members alone, has connected. */
@Entity('connections')
@Unique('connections_org_id', ['org_id', 'id'])
@Index('connections_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('connections_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('connections_by_scope', ['org_id', 'scope', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('connections_project', ['org_id', 'project_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
@Index('connections_owner', ['owner_user_id', 'created_at', 'id'], { where: 'deleted_at IS NULL AND owner_user_id IS NOT NULL' })
@Check('connections_method', `method IN ('oauth2', 'api_key', 'bearer', 'basic', 'mcp_oauth', 'mcp_token', 'none')`)
@Check('connections_status', `status IN ('initiated', 'active', 'error', 'expired', 'disabled')`)
@Check('connections_scope', `scope IN ('private', 'org')`)
@Check('connections_decision_mode', `decision_mode IN ('off', 'destructive', 'write', 'all')`)
export class Connection extends OwnedRow {
  @Column('text') slug: string;
  @Column('text') label: string;
  @Column('text') app_key: string;
  /** What connections of one service have in common, however they were made. */
  @Column('text') provider_key: string;
  @Column('text') method: ConnectionMethod;
  @Column('text') status: 'initiated' | 'active' | 'error' | 'expired' | 'disabled';
  @Column('text', { default: 'private' }) scope: 'private' | 'org';
  /** Null: who owned it has left. */
  @Column('uuid', { nullable: true }) owner_user_id: string | null;
  @Column('uuid', { nullable: true }) project_id: string | null;
  @Column('text', { default: 'off' }) decision_mode: 'off' | 'destructive' | 'write' | 'all';
  /** Without its query, which may hold a secret and is sealed. Null: that of its app, as it is now. */
  @Column('text', { nullable: true }) server_url: string | null;
  /** Sealed: credentials, headers and the query of the address. */
  @Column('text', { nullable: true }) secrets: string | null;
  @Column('text', { nullable: true }) credential_hint: string | null;
  /** The headers by name, with their values masked. */
  @Column('jsonb', { default: () => "'{}'" }) headers: Record<string, string>;
  /** Sealed: what a consent has given, tokens among it. */
  @Column('text', { nullable: true }) consent: string | null;
  /** Counts what `consent` was: whoever refreshes it writes only over what was read. */
  @Column('int', { default: 0 }) token_version: number;
  /** Until then somebody is refreshing it, and others wait. */
  @Column('timestamptz', { nullable: true }) refreshing_until: Date | null;
  /** When the access token is over. */
  @Column('timestamptz', { nullable: true }) expires_at: Date | null;
  @Column('boolean', { default: false }) knowledge_capable: boolean;
  @Column('text', { nullable: true }) last_error: string | null;
  /** When its tools were listed last. */
  @Column('timestamptz', { nullable: true }) tools_listed_at: Date | null;
  /** Since when they could not be listed anew. */
  @Column('timestamptz', { nullable: true }) stale_since: Date | null;
  @Column('timestamptz', { nullable: true }) last_used_at: Date | null;
}

/** Somebody who is asked to consent at a connection's server, until they come back. */
@Entity('connection_consents')
@Unique('connection_consents_state', ['state_hash'])
@Index('connection_consents_connection', ['org_id', 'connection_id'])
@ForeignKey(() => Connection, ['org_id', 'connection_id'], ['org_id', 'id'])
export class ConnectionConsent extends DatedOrgRow {
  @Column('uuid') connection_id: string;
  @Column('uuid') user_id: string;
  /** SHA-256 of the state that they bring back, or of that by which they confirm that they did. */
  @Column('bytea') state_hash: Buffer;
  /** SHA-256 of what their browser was given to keep; null once they came back without it, and have to confirm. */
  @Column('bytea', { nullable: true }) browser_hash: Buffer | null;
  /** Sealed: what was asked for, and, where they have to confirm, what they came back with. */
  @Column('text') request: string;
  @Column('timestamptz') expires_at: Date;
}

/** A tool of a connection: the terms that are in force, and those that its server has now where nobody has accepted them yet. */
@Entity('connection_tools')
@ForeignKey(() => Connection, ['org_id', 'connection_id'], ['org_id', 'id'])
@Check('connection_tools_access_level', `access_level IN ('read', 'write', 'destructive')`)
export class ConnectionTool {
  @PrimaryColumn('uuid') connection_id: string;
  /** As its server calls it. */
  @PrimaryColumn('text') name: string;
  @Column('uuid') org_id: string;
  @Column('text', { nullable: true }) title: string | null;
  @Column('text') description: string;
  @Column('jsonb') input_schema: Record<string, unknown>;
  @Column('jsonb', { default: () => "'{}'" }) hints: ToolTerms['hints'];
  @Column('text') access_level: 'read' | 'write' | 'destructive';
  @Column('jsonb', { nullable: true }) waiting: ToolTerms | null;
  /** Since when it is no longer listed. It is kept, so that it cannot come back with other terms unseen. */
  @Column('timestamptz', { nullable: true }) gone_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}
