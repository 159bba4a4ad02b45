import { Injectable, Module } from '@nestjs/common';
import { QUEUE_POLICY, type JobPayload } from '@aps/contracts';
import { mayHold } from '@aps/platform/http';
import { concurrencyOf, JobHandler, PutOff, type JobContext } from '@aps/platform/queues';
import { CommandsRepository } from '../commands/commands.repository';
import { CommandRunner } from '../runner/command-runner';
import { ImageValidations } from '../runner/image-validation';
import { SandboxHosting } from '../runner/sandbox-hosting';
import { SandboxesModule } from '../runner/sandboxes.module';
import { Sandboxes } from '../sandbox/sandboxes';

export { ImageValidations, SandboxesModule };

/** When a job comes again that others are to take, seconds. */
const ELSEWHERE_S = 1;
/** The same of one that nobody can take; until then somebody may. */
const NOWHERE_S = 60;
/** The same of one whose organization has its share of this process. */
const BUSY_S = 2;

@Injectable()
export class EnvironmentsProcessor {
  /** Commands and validations that this process is at, by whose they are. */
  private readonly held = new Set<{ orgId: string }>();

  constructor(
    private readonly runner: CommandRunner,
    private readonly images: ImageValidations,
    private readonly commands: CommandsRepository,
    private readonly sandboxes: Sandboxes,
    private readonly hosting: SandboxHosting,
  ) {}

  @JobHandler('environment.command')
  async command({ org_id, command_id }: JobPayload<'environment.command'>, { signal }: JobContext): Promise<void> {
    await this.requireIsolation();
    return this.sharing(org_id, () => this.runner.run(org_id, command_id, signal));
  }

  @JobHandler('environment.validate')
  async validate({ org_id, environment_id }: JobPayload<'environment.validate'>, { jobId, signal }: JobContext): Promise<void> {
    await this.requireIsolation();
    return this.sharing(org_id, () => this.images.run(org_id, environment_id, jobId, signal));
  }

  /** The environment is deleted, and what ran there was told to end. */
  @JobHandler('environment.remove')
  async remove({ environment_id }: JobPayload<'environment.remove'>): Promise<void> {
    const workspaces = await this.commands.workspacesOf(environment_id);
    if (!workspaces.length) return;
    await this.requireIsolation();
    const driver = await this.sandboxes.driver();
    if (!driver) throw new PutOff(NOWHERE_S, 'Nothing isolates commands here, so there is nothing that removes workspaces');
    for (const workspace of workspaces) await driver.removeWorkspace(workspace);
  }

  /**
   * They last up to an hour: an organization has a share of the places of this process, and one of them in any case.
   *
   * @throws PutOff
   */
  private async sharing(orgId: string, work: () => Promise<void>): Promise<void> {
    const own = [...this.held].filter((place) => place.orgId === orgId).length;
    const all = concurrencyOf('environments', QUEUE_POLICY.environments.concurrency);
    if (own && !mayHold(all, this.held.size + 1, own + 1, 1)) throw new PutOff(BUSY_S, 'Its organization has its share of this process');
    const place = { orgId };
    this.held.add(place);
    await work().finally(() => this.held.delete(place));
  }

  /** A process that could only refuse would be the fastest of all, and have most of the jobs. @throws PutOff */
  private async requireIsolation(): Promise<void> {
    if (await this.hosting.leavesToOthers()) throw new PutOff(ELSEWHERE_S, 'Nothing isolates commands here, and elsewhere something does');
  }
}

@Module({ imports: [SandboxesModule], providers: [EnvironmentsProcessor] })
export class EnvironmentsJobsModule {}
