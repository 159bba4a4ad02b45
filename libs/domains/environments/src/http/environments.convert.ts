import {
  CreateEnvironmentResponse,
  EnvironmentActivity,
  EnvironmentResponse,
  ExecTimeoutBounds,
  ImageValidationResponse,
  ImageCheck,
} from '@aps/dtos';
import { answer } from '@aps/platform/http';
import { EXEC_TIMEOUT_BOUNDS, execTimeoutOf } from '../environments.policy';
import type { Activity, EnvironmentView } from '../environments.queries';
import type { Entered } from '../environments.service';

export const toEnvironment = (environment: EnvironmentView): EnvironmentResponse =>
  answer(EnvironmentResponse, environment, {
    connected: environment.status === 'online',
    exec_timeout_s: execTimeoutOf(environment),
    exec_timeout_bounds: answer(ExecTimeoutBounds, EXEC_TIMEOUT_BOUNDS),
    validation:
      environment.validation &&
      answer(ImageValidationResponse, environment.validation, {
        checks: environment.validation.checks.map((check) => answer(ImageCheck, check)),
      }),
    has_token: environment.kind === 'REMOTE_MACHINE',
    is_builtin: environment.kind === 'BUILTIN_SANDBOX',
  });

export const toEntered = ({ environment, access }: Entered): CreateEnvironmentResponse => ({
  environment: toEnvironment(environment),
  daemon_token: access?.daemon_token ?? null,
  install_command: access?.install_command ?? null,
});

export const toActivity = (command: Activity): EnvironmentActivity => answer(EnvironmentActivity, command);
