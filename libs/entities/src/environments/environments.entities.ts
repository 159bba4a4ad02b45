import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Chat } from '../chats/chats.entities';
import { OwnedRow } from '../orgs/owned-row.entity';
import { DatedOrgRow } from '../rows';

export const ENVIRONMENT_KINDS = ['BUILTIN_SANDBOX', 'REMOTE_MACHINE', 'CUSTOM_IMAGE'] as const;
export type EnvironmentKind = (typeof ENVIRONMENT_KINDS)[number];

/** What was found when an image was looked at. */
export interface ImageValidation {
  /** In the order in which they are made; the first that fails is the last. */
  checks: { name: string; ok: boolean; detail: string }[];
  digest: string | null;
  size_bytes: number | null;
  validated_at: string;
  /** It was found to be fine, or kept as what was, where nothing was learnt of it. */
  is_fine?: boolean;
}

/** What a machine says of itself. */
export interface MachineFacts {
  version: string;
  platform: string;
  hostname: string;
}

/** Where commands of agents run. */
@Entity('environments')
@Unique('environments_org_id', ['org_id', 'id'])
@Unique('environments_token', ['token_hash'])
@Index('environments_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('environments_builtin', ['org_id'], { unique: true, where: `kind = 'BUILTIN_SANDBOX' AND deleted_at IS NULL` })
@Index('environments_validating', ['id'], { where: `image_state = 'validating'` })
@Index('environments_images', ['image_digest'], { where: `kind = 'CUSTOM_IMAGE' AND deleted_at IS NULL` })
@Index('environments_told', ['connected_until'], { where: 'told_connected' })
@Check('environments_kind', `kind IN ('BUILTIN_SANDBOX', 'REMOTE_MACHINE', 'CUSTOM_IMAGE')`)
@Check('environments_image', `(kind = 'CUSTOM_IMAGE') = (image_ref IS NOT NULL) AND (kind = 'CUSTOM_IMAGE') = (image_state IS NOT NULL)`)
@Check('environments_image_state', `image_state IN ('validating', 'online', 'invalid')`)
export class Environment extends OwnedRow {
  @Column('text') kind: EnvironmentKind;
  @Column('text') name: string;
  /** What was asked for as the ceiling of a command, seconds, within no bounds; null: the default of its kind. */
  @Column('float8', { nullable: true }) exec_timeout_requested_s: number | null;
  /** Of a custom image: as its people named it, and the digest that it was when it was resolved last. */
  @Column('text', { nullable: true }) image_ref: string | null;
  @Column('text', { nullable: true }) image_digest: string | null;
  @Column('text', { nullable: true }) image_state: 'validating' | 'online' | 'invalid' | null;
  @Column('jsonb', { nullable: true }) validation: ImageValidation | null;
  /** The validation that is under way: what an older one has found is not written any more. */
  @Column('uuid', { nullable: true }) probe_id: string | null;
  /** Of a remote machine: SHA-256 of its token, and the token itself, sealed; null where it was issued before copies were kept. */
  @Column('bytea', { nullable: true }) token_hash: Buffer | null;
  @Column('text', { nullable: true }) token: string | null;
  @Column('jsonb', { nullable: true }) machine: MachineFacts | null;
  /** When the machine was heard of last, which is its lease; and until when it counts as connected. */
  @Column('timestamptz', { nullable: true }) last_seen_at: Date | null;
  @Column('timestamptz', { nullable: true }) connected_until: Date | null;
  /** Which of its sockets is the one; whoever opens a later one takes over. */
  @Column('uuid', { nullable: true }) socket_id: string | null;
  /** Readers were told that it is connected. */
  @Column('boolean', { default: false }) told_connected: boolean;
  /** Newest number on its event log. */
  @Column('int', { default: 0 }) event_seq: number;
}

/** A command, from when it is asked for. Whoever asks again for the same call finds this row, so no command runs twice. */
@Entity('environment_commands')
@Unique('environment_commands_call', ['call_key'])
@Index('environment_commands_environment', ['environment_id', 'id'])
@Index('environment_commands_queued', ['environment_id', 'id'], { where: `status = 'queued'` })
@Index('environment_commands_running', ['org_id'], { where: `status = 'running'` })
@Index('environment_commands_turn', ['turn_id'], { where: `status IN ('queued', 'running')` })
@Index('environment_commands_token', ['token_hash'], { where: 'token_hash IS NOT NULL' })
@Index('environment_commands_chat', ['chat_id'], { where: 'chat_id IS NOT NULL' })
@Index('environment_commands_kept', ['finished_at'], { where: `stdout <> '' OR stderr <> '' OR content IS NOT NULL` })
@Index('environment_commands_over', ['finished_at'], { where: 'finished_at IS NOT NULL' })
@Index('environment_commands_pings', ['finished_at'], { where: 'chat_id IS NULL AND finished_at IS NOT NULL' })
@ForeignKey(() => Environment, ['org_id', 'environment_id'], ['org_id', 'id'])
@ForeignKey(() => Chat, ['org_id', 'chat_id'], ['org_id', 'id'])
@Check('environment_commands_kind', `kind IN ('exec', 'put_file', 'get_file')`)
@Check('environment_commands_status', `status IN ('queued', 'running', 'done', 'cancelled', 'outcome_unknown')`)
@Check('environment_commands_finished', `(status IN ('queued', 'running')) = (finished_at IS NULL)`)
export class EnvironmentCommand extends DatedOrgRow {
  @Column('uuid') environment_id: string;
  /** Null: of no chat, but to find out whether the environment answers. */
  @Column('uuid', { nullable: true }) chat_id: string | null;
  @Column('uuid', { nullable: true }) turn_id: string | null;
  /** `<turn>/<step>/<call>`. */
  @Column('text') call_key: string;
  /** Whose files it sees: one for each environment and root chat. */
  @Column('uuid') workspace: string;
  @Column('text') kind: 'exec' | 'put_file' | 'get_file';
  @Column('text', { nullable: true }) command: string | null;
  @Column('text') workdir: string;
  @Column('text', { nullable: true }) path: string | null;
  /** What is put into the file, or was got out of it. */
  @Column('bytea', { nullable: true }) content: Buffer | null;
  @Column('int') timeout_s: number;
  @Column('text', { default: 'queued' }) status: 'queued' | 'running' | 'done' | 'cancelled' | 'outcome_unknown';
  /** Who has it, of a machine: the token that it was taken by, which goes on to serve for it, and the socket. */
  @Column('bytea', { nullable: true }) token_hash: Buffer | null;
  @Column('uuid', { nullable: true }) socket_id: string | null;
  /** When whoever has it was heard of last. */
  @Column('timestamptz', { nullable: true }) heartbeat_at: Date | null;
  @Column('int', { nullable: true }) exit_code: number | null;
  @Column('text', { default: '' }) stdout: string;
  @Column('text', { default: '' }) stderr: string;
  @Column('boolean', { default: false }) timed_out: boolean;
  @Column('boolean', { default: false }) truncated: boolean;
  /** Why it did not run, or nobody knows what it came to; for people. */
  @Column('text', { nullable: true }) error: string | null;
  @Column('timestamptz', { nullable: true }) started_at: Date | null;
  @Column('timestamptz', { nullable: true }) finished_at: Date | null;
}

/** A process that runs sandboxes, and what isolates them there. */
@Entity('sandbox_hosts')
export class SandboxHost {
  /** The process, as it calls itself. */
  @PrimaryColumn('text') id: string;
  /** Null where nothing isolates. */
  @Column('text', { nullable: true }) isolation: 'pod' | 'container' | 'namespaces' | 'none' | null;
  /** Why nothing does, as a sentence. */
  @Column('text', { nullable: true }) problem: string | null;
  @Column('timestamptz') seen_at: Date;
}
