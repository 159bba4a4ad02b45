import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  NumberField,
  StringField,
  UuidField,
} from '@aps/platform/http';

const KINDS = ['BUILTIN_SANDBOX', 'REMOTE_MACHINE', 'CUSTOM_IMAGE'] as const;
export type EnvironmentKind = (typeof KINDS)[number];
const STATUSES = ['pending', 'validating', 'online', 'offline', 'invalid'] as const;
const ISOLATIONS = ['pod', 'container', 'namespaces', 'none'] as const;
const CHECKS = ['reference', 'registry', 'manifest', 'platform', 'size', 'pull', 'probe'] as const;

const NAME = { description: 'What people call it; not unique.', example: 'Build machine', optional: true, nullable: true };
const IMAGE = {
  ...{ optional: true, nullable: true, min: 1, max: 512, example: 'ghcr.io/acme/tools:1.4' },
  description: 'Of a custom image: where it is, by tag or digest. Without a host it is on docker.io. It is pulled without credentials.',
};
const Name = () => StringField({ ...NAME, trim: true, max: 120 });
const ImageRef = () => StringField({ ...IMAGE, trim: true });

export class CreateEnvironmentRequest {
  @EnumField(KINDS, { name: 'EnvironmentKind', description: 'What commands run in.', example: 'REMOTE_MACHINE' }) kind: EnvironmentKind;
  @Name() name?: string | null;
  @ImageRef() image_ref?: string | null;
}

export class UpdateEnvironmentRequest {
  @Name() name?: string | null;
  @ImageRef() image_ref?: string | null;
  @IntField({
    optional: true,
    nullable: true,
    min: Number.MIN_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
    description: 'Ceiling of a command, seconds. Brought into the bounds of the platform; null: as `exec_timeout_reset`.',
    example: 900,
  })
  exec_timeout_s?: number | null;
  @BooleanField({ optional: true, nullable: true, description: 'Back to the default of its kind.' }) exec_timeout_reset?: boolean | null;
}

export class ExecTimeoutBounds {
  @IntField({ description: 'Seconds.', example: 5 }) min: number;
  @IntField({ description: 'Seconds.', example: 3600 }) max: number;
}

export class ImageCheck {
  @EnumField(CHECKS, { name: 'ImageCheckName', description: 'What was looked at.', example: 'size' }) name: string;
  @BooleanField({ description: 'Whether it is as it must be.' }) ok: boolean;
  @StringField({ description: 'What was found.', example: '312 MiB of at most 2 GiB' }) detail: string;
}

export class ImageValidationResponse {
  @ListField(() => ImageCheck, { description: 'In the order in which they are made; the first that fails is the last.' })
  checks: ImageCheck[];
  @StringField({ nullable: true, description: 'What the reference stood for.' }) digest: string | null;
  @NumberField({ nullable: true, description: 'Compressed, bytes.' }) size_bytes: number | null;
  @DateTimeField({ description: 'When it was over.' }) validated_at: string;
}

export class EnvironmentResponse {
  @UuidField({ description: 'The environment.' }) id: string;
  @EnumField(KINDS, { name: 'EnvironmentKind', description: 'What commands run in.' }) kind: EnvironmentKind;
  @StringField({ description: 'What people call it.', example: 'Build machine' }) name: string;
  @StringField({ nullable: true, description: 'Of a custom image: where it is.' }) image_ref: string | null;
  @StringField({ nullable: true, description: 'What that was when it was resolved, and what is run.' }) image_digest: string | null;
  @EnumField(STATUSES, {
    name: 'EnvironmentStatus',
    description:
      '`pending`: the machine has never called; `validating`, `invalid`: of images; `offline`: nothing runs commands there at the moment.',
  })
  status: string;
  @BooleanField({ description: 'Whether commands can run.' }) connected: boolean;
  @EnumField(ISOLATIONS, {
    name: 'EnvironmentIsolation',
    nullable: true,
    description: 'What keeps commands apart from all else; null where that is not known, and of remote machines.',
  })
  isolation: string | null;
  @DateTimeField({ nullable: true, description: 'When the machine was heard of last.' }) last_seen_at: string | null;
  @IntField({ description: 'Ceiling of a command, seconds, as it holds.', example: 600 }) exec_timeout_s: number;
  @NumberField({ nullable: true, description: 'What was asked for; null: nothing.' }) exec_timeout_requested_s: number | null;
  @NestedField(() => ExecTimeoutBounds, { description: 'Within which a ceiling must be.' }) exec_timeout_bounds: ExecTimeoutBounds;
  @NestedField(() => ImageValidationResponse, { nullable: true, description: 'What the newest validation has found.' })
  validation: ImageValidationResponse | null;
  @BooleanField({ description: 'It has a token that can be revealed or rotated.' }) has_token: boolean;
  @BooleanField({ description: 'It is the built-in sandbox.' }) is_builtin: boolean;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

const DaemonToken = () =>
  StringField({
    credential: true,
    nullable: true,
    description: 'Of a remote machine: what its daemon proves itself by.',
    example: 'aed_…',
  });
const InstallCommand = () =>
  StringField({
    credential: true,
    nullable: true,
    description: 'Of a remote machine: installs and starts the daemon there. Has the token in it.',
  });

export class CreateEnvironmentResponse {
  @NestedField(() => EnvironmentResponse, { description: 'The environment.' }) environment: EnvironmentResponse;
  @DaemonToken() daemon_token: string | null;
  @InstallCommand() install_command: string | null;
}

export class RevealTokenResponse {
  @UuidField({ description: 'The environment.' }) environment_id: string;
  @DaemonToken() daemon_token: string | null;
  @InstallCommand() install_command: string | null;
}

export class EnvironmentActivity {
  @UuidField({ description: 'The command.' }) id: string;
  @UuidField({ nullable: true, description: 'The chat that ran it; null where the caller may not open it.' }) chat_id: string | null;
  @StringField({
    nullable: true,
    description: 'Its first 200 characters; null where the caller may not open the chat.',
    example: 'npm test',
  })
  command_preview: string | null;
  @EnumField(['queued', 'running', 'done', 'cancelled', 'outcome_unknown'], {
    name: 'CommandStatus',
    description: '`outcome_unknown`: what ran it was lost, and nobody can say what it came to.',
  })
  status: string;
  @IntField({ nullable: true, description: 'Null while it runs, and where it was killed.', example: 0 }) exit_code: number | null;
  @DateTimeField({ nullable: true, description: 'When it began.' }) started_at: string | null;
  @IntField({ nullable: true, description: 'How long it took, milliseconds.', example: 5300 }) duration_ms: number | null;
  @BooleanField({ description: 'Its ceiling was reached, and it was killed.' }) timed_out: boolean;
  @BooleanField({ description: 'It wrote more than is kept.' }) truncated: boolean;
}

export class EnvironmentPingResponse {
  @BooleanField({ description: 'Whether a command ran.' }) ok: boolean;
  @IntField({ nullable: true, description: 'How long that took, milliseconds; null where none ran.', example: 42 }) latency_ms:
    number | null;
  @StringField({ description: 'The same for people.', example: 'The environment answered.' }) message: string;
}

export class UsingAgent {
  @UuidField({ description: 'The agent.' }) id: string;
  @StringField({ description: 'Its name.' }) name: string;
}

export class UsingChat {
  @UuidField({ description: 'The chat.' }) id: string;
  @UuidField({ description: 'Its agent.' }) agent_id: string;
  @StringField({ nullable: true, description: 'Its title.' }) title: string | null;
}

export class EnvironmentUsageResponse {
  @ListField(() => UsingAgent, { description: 'Agents whose commands run there, by name.' }) agents: UsingAgent[];
  @ListField(() => UsingChat, { description: 'Chats that were told to run commands there, newest first.' }) chats: UsingChat[];
  @IntField({ description: 'How many more chats there are that the caller may not open.', example: 0 }) hidden_chat_count: number;
}

export class EnvironmentUpdate {
  @UuidField({ description: 'The environment.' }) environment_id: string;
  @EnumField(STATUSES, { name: 'EnvironmentStatus', description: 'How it stands.' }) status: string;
  @BooleanField({ description: 'Whether commands can run.' }) connected: boolean;
}

export class EnvironmentSnapshot extends EnvironmentUpdate {
  @StringField({ description: 'Number of the newest event.', example: '4' }) last_id: string;
}
