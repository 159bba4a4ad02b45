import { DomainError, refuseValue, requireValid } from '@aps/contracts';
import type { Environment, EnvironmentKind } from '@aps/entities';

/** Of the ceiling of a command, seconds. */
export const EXEC_TIMEOUT_BOUNDS = { min: 5, max: 3600 };
const DEFAULT_TIMEOUT_S: Record<EnvironmentKind, number> = { BUILTIN_SANDBOX: 120, CUSTOM_IMAGE: 300, REMOTE_MACHINE: 600 };

/** A machine that was not heard of for so long is not connected, and a command of it, or of a sandbox's process, is lost. */
export const HEARTBEAT_TTL_S = 45;
export const HEARTBEAT_INTERVAL_S = 15;
/** Beyond its ceiling, what a command has in all, seconds: its sandbox may take minutes to be there, and its end a moment to be told. */
export const SLACK_S = 420;

export type EnvironmentStatus = 'pending' | 'validating' | 'online' | 'offline' | 'invalid';

const within = (seconds: number, { min, max } = EXEC_TIMEOUT_BOUNDS): number => Math.min(max, Math.max(min, seconds));

/** The ceiling of a command as it holds, seconds. */
export const execTimeoutOf = ({
  kind,
  exec_timeout_requested_s: requested,
}: Pick<Environment, 'kind' | 'exec_timeout_requested_s'>): number => within(requested ?? DEFAULT_TIMEOUT_S[kind]);

/** The same of one command, which may ask for less. */
export const commandTimeoutOf = (environment: Parameters<typeof execTimeoutOf>[0], asked?: number): number =>
  Math.min(execTimeoutOf(environment), asked ?? Infinity);

/** What a caller changes of an environment. Absent leaves it as it is. */
export interface EnvironmentChange {
  name?: string | null;
  image_ref?: string | null;
  exec_timeout_s?: number | null;
  exec_timeout_reset?: boolean | null;
}

const problem = (field: string, msg: string, type: string) => ({ loc: ['body', field], msg, type });

/** @throws DomainError `validation_error` with every problem */
export function requireChange({ kind }: Pick<Environment, 'kind'>, change: EnvironmentChange): void {
  const { name, image_ref, exec_timeout_s, exec_timeout_reset } = change;
  requireValid([
    ...(kind === 'BUILTIN_SANDBOX' && name !== undefined ? [problem('name', 'The built-in sandbox cannot be renamed', 'value_error')] : []),
    ...(kind !== 'BUILTIN_SANDBOX' && name !== undefined && !name
      ? [problem('name', 'Input should be a name that is not blank', 'string_too_short')]
      : []),
    ...(kind !== 'CUSTOM_IMAGE' && image_ref !== undefined
      ? [problem('image_ref', 'Only a custom image has a reference', 'value_error')]
      : []),
    ...(kind === 'CUSTOM_IMAGE' && image_ref === null ? [problem('image_ref', 'Input should be a reference', 'string_type')] : []),
    ...(exec_timeout_reset && isSet(exec_timeout_s)
      ? [problem('exec_timeout_reset', 'Give a ceiling, or reset it, and not both', 'value_error')]
      : []),
  ]);
}

/** What becomes of the ceiling: undefined leaves it, null resets it. */
export function requestedTimeout({ exec_timeout_s, exec_timeout_reset }: EnvironmentChange): number | null | undefined {
  return exec_timeout_reset ? null : exec_timeout_s;
}

/** @throws DomainError `nothing_to_reveal` */
export function requireMachine({ kind }: Pick<Environment, 'kind'>): void {
  if (kind !== 'REMOTE_MACHINE') throw new DomainError('nothing_to_reveal', 'Only a remote machine has a token.');
}

/** @throws DomainError `validation_error` */
export function requireImage({ kind }: Pick<Environment, 'kind'>): void {
  if (kind !== 'CUSTOM_IMAGE') throw refuseValue(['path', 'environment_id'], 'Only a custom image is validated.');
}

/** Why no command can run there now; null where one can. For people and models. */
export function obstacleOf(environment: { kind: EnvironmentKind; status: EnvironmentStatus; problem: string | null }): string | null {
  const { kind, status } = environment;
  if (status === 'online') return null;
  if (kind === 'REMOTE_MACHINE')
    return status === 'pending' ? 'The machine has never called home: its daemon is not installed.' : 'The machine is offline.';
  if (kind === 'CUSTOM_IMAGE')
    return status === 'validating' ? 'The image is still being validated.' : 'The image was found to be invalid.';
  return environment.problem ?? 'Nothing isolates commands here.';
}

export const isSet = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;
