import { BillingModule, OrgPlans } from '@aps/billing';
import { OrgsModule } from '@aps/orgs';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import type { Answer } from '@aps/platform/testing';
import { BASE_MODULES, TestService, type Settings } from '@aps/testing';
import { EnvironmentsHttpModule } from '../http';
import { EnvironmentsJobsModule } from '../jobs';
import { HELLO, MachineSocket } from './machine-socket';

/** Gateway and what runs sandboxes in one process. Nothing isolates commands, so that specs pass wherever they run. */
export const ENVIRONMENT_MODULES = [
  ...BASE_MODULES,
  BillingModule,
  OrgsModule.forRoot(OrgPlans),
  MaintenanceModule,
  EnvironmentsHttpModule,
  EnvironmentsJobsModule,
  WorkersModule.forQueues('environments'),
];
export const NOT_ISOLATED: Settings = { SANDBOX_DRIVER: 'process' };

/** A remote machine, and its daemon, which a spec plays. */
export class TestMachine {
  constructor(
    private readonly t: TestService,
    readonly id: string,
    readonly token: string,
  ) {}

  /** What its daemon asks for. */
  ask(what: 'claim' | 'heartbeat' | 'result', body: object = {}, token = this.token): Promise<Answer> {
    const hello = what === 'claim' ? { hello: HELLO } : {};
    return this.t.call('POST', `/api/daemon/work/${what}`, { headers: { authorization: `Bearer ${token}` }, body: { ...hello, ...body } });
  }

  /** Its socket, from when it is welcome. @param work what it is still at */
  connect(work?: string[], url = this.t.url): Promise<MachineSocket> {
    return MachineSocket.connect(url, this.token, work);
  }
}

export class EnvironmentsService extends TestService {
  constructor(settings: Settings = NOT_ISOLATED) {
    super(ENVIRONMENT_MODULES, { settings });
  }

  team(): Promise<TestTeam> {
    return aTeam(this);
  }

  async machine(org: TestTeam, name = 'Build machine'): Promise<TestMachine> {
    const made = await this.make('POST', `${org.path}/environments`, { as: org.member, body: { kind: 'REMOTE_MACHINE', name } });
    return new TestMachine(this, made.environment.id as string, made.daemon_token as string);
  }

  async sandbox(org: TestTeam): Promise<string> {
    return (await this.make('POST', `${org.path}/environments`, { as: org.member, body: { kind: 'BUILTIN_SANDBOX' } })).environment
      .id as string;
  }
}
