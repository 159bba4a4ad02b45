import { Injectable } from '@nestjs/common';
import { notFound, runTopic, type TopicEvent } from '@aps/contracts';
import { listTally, Process, ProcessRun, type ProcessRunState, type ProcessStepRow } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import {
  batchesBehind,
  Database,
  heavy,
  listed,
  listedInBatches,
  OrgTable,
  PIECE,
  statement,
  type Listed,
  type Slice,
} from '@aps/platform/database';
import { EventLog } from '@aps/platform/realtime';

/** A run, as whoever follows it is told of it. */
export type RunStanding = Pick<ProcessRun, 'id' | 'org_id' | 'process_id' | 'state' | 'event_seq'>;

const STANDINGS = statement<RunStanding>(`
  SELECT r.id, r.org_id, r.process_id, r.state, r.event_seq FROM process_runs r JOIN processes p ON p.id = r.process_id
  WHERE r.id = ANY ($1) AND p.deleted_at IS NULL`);

/** In which order the steps of a run are read. It is looked up once: no index has it, and it is few bytes. */
const STEPS_OF = statement<{ id: string }>('SELECT id FROM process_steps WHERE run_id = $1 ORDER BY seq');
const STEPS = statement<ProcessStepRow>('SELECT * FROM process_steps WHERE id = ANY ($1) ORDER BY seq');
const STEPS_HEAVY = statement<{ heavy: boolean }>(heavy('s', 'process_steps s WHERE id = ANY ($1)'));

/** Reads runs of processes that are there. Never writes. */
@Injectable()
export class RunsQueries {
  private readonly processes = new OrgTable(Process, 'Process');
  private readonly runs = new OrgTable(
    ProcessRun,
    'Run',
    {
      from: listTally('process_runs'),
      where: { process_id: `split_part(t.facet, ':', 1) = $`, state: `split_part(t.facet, ':', 2) = $` },
    },
    'large',
  );

  constructor(
    private readonly db: Database,
    private readonly log: EventLog,
  ) {}

  /** Newest first. @throws DomainError `not_found` */
  async list(
    scope: OrgScope,
    processId: string,
    { status: state }: { status?: ProcessRunState },
    slice: Slice,
  ): Promise<Listed<ProcessRun>> {
    await this.processes.get(this.db, scope, processId);
    return this.runs.page(this.db, scope, { process_id: processId, ...(state && { state }) }, { created_at: 'DESC', id: 'DESC' }, slice);
  }

  /** With its steps in the order in which they were begun. @throws DomainError `not_found` */
  async get(scope: OrgScope, processId: string, id: string): Promise<{ run: ProcessRun; steps: Listed<ProcessStepRow> }> {
    await this.processes.get(this.db, scope, processId);
    const run = await this.runs.get(this.db, scope, { id, process_id: processId });
    const ids = (await this.db.query(STEPS_OF, [id])).map((step) => step.id);
    const read = (offset: number, size: number) => this.db.query(STEPS, [ids.slice(offset, offset + size)]);
    const steps = await listedInBatches(
      {},
      ({ limit = PIECE }) => listed({ limit }, read(0, limit + 1), () => ids.length),
      async function* (offset, size) {
        for (let from = offset; from < ids.length; from += size) yield await read(from, size);
      },
      async ({ limit = PIECE }) => (await this.db.query(STEPS_HEAVY, [ids.slice(0, limit)]))[0].heavy,
    );
    return { run, steps };
  }

  /** What has happened, oldest first. Its numbers have no gaps, so they are places in the list. @throws DomainError `not_found` */
  async events(scope: OrgScope, processId: string, id: string, slice: Slice): Promise<Listed<TopicEvent>> {
    const { event_seq } = await this.standing(scope, processId, id);
    const after = (seq: number, limit: number) => this.log.after(runTopic(id), seq, limit);
    return listedInBatches(
      slice,
      ({ limit = PIECE, offset = 0 }) => listed({ limit, offset }, after(offset, limit + 1), () => event_seq),
      (offset, size) =>
        batchesBehind(
          offset,
          (event) => event.id,
          (seq) => after(seq, size),
        ),
    );
  }

  /** @throws DomainError `not_found` */
  async standing(scope: OrgScope, processId: string, id: string): Promise<RunStanding> {
    const [run] = await this.standings([id]);
    if (run?.org_id !== scope.orgId || run.process_id !== processId) throw notFound('Run');
    return run;
  }

  /** Of those that are there, of whatever organization. */
  standings(ids: string[]): Promise<RunStanding[]> {
    return this.db.query(STANDINGS, [ids]);
  }
}
