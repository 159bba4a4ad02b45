import { BooleanField, EnumField, IntField, NestedField, StringField, UuidField } from '@aps/platform/http';

/** Bytes of a file that travel in base64. */
export const MAX_FILE_BASE64 = 4 * Math.ceil((512 * 1024) / 3);
/** Of an output stream, characters that are taken; the daemon keeps head and tail. */
export const MAX_OUTPUT = 512 * 1024;

export class DaemonHello {
  @StringField({ max: 64, description: 'Version of the daemon.', example: '1.0.0' }) version: string;
  @StringField({ max: 64, description: 'Operating system and processor.', example: 'linux-x64' }) platform: string;
  @StringField({ max: 255, description: 'What the machine calls itself.', example: 'build-1' }) hostname: string;
}

export class ClaimWorkRequest {
  @NestedField(() => DaemonHello, { description: 'Who asks.' }) hello: DaemonHello;
  @IntField({ optional: true, min: 0, max: 25, default: 0, description: 'How long to wait for work, seconds.' }) wait_s?: number;
}

export class DaemonWork {
  @UuidField({ description: 'The command.' }) id: string;
  @EnumField(['exec', 'put_file', 'get_file'], { name: 'DaemonWorkKind', description: 'What is to be done.' }) kind: string;
  @StringField({ nullable: true, description: 'Of `exec`: for `sh -c`.' }) command: string | null;
  @StringField({ description: 'Where, in or below `/workspace`.', example: '/workspace' }) workdir: string;
  @IntField({ description: 'Ceiling, seconds; then all its processes are killed.' }) timeout_s: number;
  @StringField({ nullable: true, description: 'Of a file: where it is, below `/workspace`.' }) path: string | null;
  @StringField({ nullable: true, description: 'Of `put_file`: what is in it.' }) content_base64: string | null;
  @UuidField({ description: 'Which workspace `/workspace` is.' }) workspace: string;
}

export class ClaimWorkResponse {
  @UuidField({ description: 'The environment that the token is of.' }) environment_id: string;
  @NestedField(() => DaemonWork, { nullable: true, description: 'What is to be done; null: nothing.' }) work: DaemonWork | null;
  @StringField({ description: 'The lease; the next heartbeat names it.', example: '2026-11-27T07:20:00.123Z' }) last_heartbeat: string;
  @IntField({ description: 'How often to send a heartbeat, seconds.', example: 15 }) heartbeat_interval_s: number;
}

export class DaemonHeartbeatRequest {
  @UuidField({ optional: true, nullable: true, description: 'The work that goes on.' }) work_id?: string | null;
  @StringField({ max: 64, description: 'The lease as it was answered last.' }) expected_last_heartbeat: string;
}

export class DaemonHeartbeatResponse {
  @StringField({ description: 'The lease from now on.' }) last_heartbeat: string;
  @BooleanField({ description: 'Whether the work is to be killed.' }) cancel: boolean;
}

export class DaemonResultRequest {
  @UuidField({ description: 'The work.' }) work_id: string;
  @IntField({ nullable: true, optional: true, description: 'Null where it was killed.' }) exit_code?: number | null;
  @StringField({ optional: true, max: MAX_OUTPUT, made: true, description: 'What it wrote.' }) stdout?: string;
  @StringField({ optional: true, max: MAX_OUTPUT, made: true, description: 'What it wrote of errors.' }) stderr?: string;
  @BooleanField({ optional: true, description: 'Its ceiling was reached.' }) timed_out?: boolean;
  @BooleanField({ optional: true, description: 'It wrote more than is sent.' }) truncated?: boolean;
  @StringField({
    optional: true,
    nullable: true,
    max: MAX_FILE_BASE64,
    pattern: /^[A-Za-z0-9+/]*={0,2}$/,
    description: 'Of `get_file`: what is in it.',
  })
  content_base64?: string | null;
}

export class DaemonResultResponse {
  @BooleanField({ description: 'False where the work was over already; a repeat changes nothing.' }) accepted: boolean;
}
