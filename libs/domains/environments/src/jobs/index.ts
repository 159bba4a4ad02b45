import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { CommandsRepository } from '..';
import { CommandRunner } from '../runner/command-runner';
import { ImageValidations } from '../runner/image-validation';
import { SandboxesModule } from '../runner/sandboxes.module';
import { Sandboxes } from '../sandbox/sandboxes';

export { ImageValidations, SandboxesModule };

@Injectable()
export class EnvironmentsProcessor {
  constructor(
    private readonly runner: CommandRunner,
    private readonly images: ImageValidations,
    private readonly commands: CommandsRepository,
    private readonly sandboxes: Sandboxes,
  ) {}

  @JobHandler('environment.command')
  command({ command_id }: JobPayload<'environment.command'>, { signal }: JobContext): Promise<void> {
    return this.runner.run(command_id, signal);
  }

  @JobHandler('environment.validate')
  validate({ org_id, environment_id }: JobPayload<'environment.validate'>, { jobId, signal }: JobContext): Promise<void> {
    return this.images.run(org_id, environment_id, jobId, signal);
  }

  /** The environment is deleted, and what ran there was told to end. */
  @JobHandler('environment.remove')
  async remove({ environment_id }: JobPayload<'environment.remove'>): Promise<void> {
    const driver = await this.sandboxes.driver();
    if (driver) for (const workspace of await this.commands.workspacesOf(environment_id)) await driver.removeWorkspace(workspace);
  }
}

@Module({ imports: [SandboxesModule], providers: [EnvironmentsProcessor] })
export class EnvironmentsJobsModule {}
