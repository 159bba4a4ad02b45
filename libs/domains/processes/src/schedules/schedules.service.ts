import { Injectable } from '@nestjs/common';
import { DomainError, isUuid, refuseField, requireValid } from '@aps/contracts';
import { Schedule } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, changesOf, Database, OrgTable, type Tx } from '@aps/platform/database';
import { ProcessRefs } from '../revisions/process-refs';
import { HOLD } from '../revisions/references.sql';
import { nextFiring, timingProblems } from './cron.policy';
import { payloadProblems } from './payload.policy';
import { SchedulesQueries, type ScheduleView } from './schedules.queries';

export const MAX_SCHEDULES_OF_ORG = 500;

/** What people set of a schedule. */
export type ScheduleSettings = Pick<
  Schedule,
  'name' | 'target_kind' | 'target_id' | 'cron' | 'timezone' | 'payload' | 'enabled' | 'overlap' | 'catch_up'
>;
type Optional = 'payload' | 'enabled' | 'overlap' | 'catch_up';
export type NewSchedule = Omit<ScheduleSettings, Optional> & Partial<Pick<ScheduleSettings, Optional>>;

const DEFAULTS = { payload: {}, enabled: true, overlap: 'skip', catch_up: 'none' } as const;

/** Makes, edits and deletes schedules. */
@Injectable()
export class SchedulesService {
  private readonly schedules = new OrgTable(Schedule, 'Schedule');

  constructor(
    private readonly db: Database,
    private readonly queries: SchedulesQueries,
    private readonly processes: ProcessRefs,
    private readonly audit: Audit,
  ) {}

  /** @throws DomainError 409 `limit_reached`; 422 `validation_error`, `unknown_reference` */
  create(scope: OrgScope, input: NewSchedule): Promise<ScheduleView> {
    const wished: ScheduleSettings = { ...DEFAULTS, ...given(input) };
    return this.db.transaction(scope, async (tx) => {
      requireValid(timingProblems(wished, this.db.now()));
      await advisoryLock(tx, `cap:schedules:${scope.orgId}`);
      if ((await this.schedules.count(tx, scope)) >= MAX_SCHEDULES_OF_ORG)
        throw new DomainError('limit_reached', `An organization has at most ${MAX_SCHEDULES_OF_ORG} schedules.`, {
          context: { limit: MAX_SCHEDULES_OF_ORG },
        });
      await this.requireTarget(tx, scope, wished);
      const next_run_at = this.next(wished);
      const { id } = await this.schedules.insert(tx, scope, { ...wished, next_run_at, created_by: scope.actor.userId });
      await this.audit.record(tx, scope, 'schedule.created', id, {
        target_kind: wished.target_kind,
        target_id: wished.target_id,
      });
      return this.queries.get(scope, id, tx);
    });
  }

  /** What changes when it fires has it fire next as if it were new. @throws DomainError `not_found`; 422 `validation_error`, `unknown_reference` */
  update(scope: OrgScope, id: string, input: Partial<ScheduleSettings>): Promise<ScheduleView> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.schedules.get(tx, scope, id, 'for no key update');
      const changes = changesOf<ScheduleSettings>(before, input);
      const after: ScheduleSettings = { ...before, ...changes };
      const does = (...fields: (keyof ScheduleSettings)[]) => fields.some((field) => field in changes);
      if (does('cron', 'timezone')) requireValid(timingProblems(after, this.db.now()));
      if (does('target_kind', 'target_id', 'payload') || changes.enabled) await this.requireTarget(tx, scope, after);
      const fields = Object.keys(changes);
      if (fields.length) {
        await this.schedules.update(tx, scope, id, {
          ...changes,
          ...(does('cron', 'timezone', 'enabled') && { next_run_at: this.next(after) }),
          ...(!after.enabled && { waits_since: null }),
        });
        await this.audit.record(tx, scope, 'schedule.updated', id, { fields });
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /** What it has begun goes on. @throws DomainError `not_found` */
  async delete(scope: OrgScope, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const gone = await this.schedules.remove(tx, scope, id);
      await this.audit.record(tx, scope, 'schedule.deleted', id, { name: gone.name });
    });
  }

  private next(schedule: ScheduleSettings): Date | null {
    return schedule.enabled ? nextFiring(schedule, this.db.now()) : null;
  }

  /** Its target stays until the transaction ends, and takes the payload, as far as that can be told: nothing need be deployed of a process yet. */
  private async requireTarget(tx: Tx, scope: OrgScope, { target_kind: kind, target_id: id, payload }: ScheduleSettings): Promise<void> {
    const found = kind === 'process' || isUuid(id) ? await tx.query(HOLD[kind], [scope.orgId, [id], []]) : [];
    if (found.length === 0) throw refuseField('unknown_reference', ['target_id'], `There is no such ${kind}.`);
    const deployed = kind === 'process' ? await this.processes.deployed(tx, scope.orgId, id) : null;
    requireValid(payloadProblems(kind, payload, deployed?.definition.input_schema ?? null));
  }
}

/** Without what is not said. */
const given = <T extends Partial<ScheduleSettings>>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T;
