import { ProcessRun } from '@aps/entities';
import { sql, type Answer, type Bearer } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

interface Of {
  id: string;
  path: string;
  owner: Bearer;
}

/** A process, made through the API by the owner of an organization. @returns what the API answers */
export function aProcess(service: TestService, { path, owner }: Of, fields: Record<string, unknown> = {}): Promise<Answer['body']> {
  return service.make('POST', `${path}/processes`, { as: owner, body: { name: 'Intake', title: 'Takes in', ...fields } });
}

/** A definition of one step, which differs by what that says. */
export const saying = (text: string) => ({ schema_version: 1, steps: [{ id: 'say', kind: 'transform', set: { text } }] });

/** A revision of a process, pushed through the API. @returns what the API answers */
export function aRevision(
  service: TestService,
  { path, owner }: Of,
  processId: string,
  definition: object = saying('hello'),
): Promise<Answer['body']> {
  return service.make('POST', `${path}/processes/${processId}/revisions`, { as: owner, body: { definition } });
}

/** A run, written past whatever runs processes. @returns its id */
export function aRun(service: TestService, org: Of, revision: Answer['body'], over: Partial<ProcessRun> = {}): Promise<string> {
  const id = over.id ?? uuidv7();
  const source = { kind: 'api', ref_id: null, user_id: null };
  const envelope = { id: uuidv7(), source, received_at: new Date().toISOString(), input: {}, attachments: [], message: null };
  return service.insert(ProcessRun, {
    ...{ id, org_id: org.id, status: 'queued', source_kind: 'api', root_run_id: id, envelope: JSON.stringify(envelope) },
    ...{ process_id: revision.process_id as string, revision_id: revision.id as string },
    ...{ revision_hash: revision.hash as string, revision_version: revision.version as number },
    ...over,
  });
}

/** Has something happen in a run, as its event log keeps it. */
export async function tell(
  service: TestService,
  org: Of,
  runId: string,
  ...events: { type: string; data: Record<string, unknown> }[]
): Promise<void> {
  for (const { type, data } of events)
    await service.db.execute(
      sql(`WITH r AS (UPDATE process_runs SET event_seq = event_seq + 1 WHERE id = $1 RETURNING event_seq)
           INSERT INTO events (topic, seq, org_id, type, data) SELECT 'run:' || $1::uuid, r.event_seq, $2, $3, $4 FROM r`),
      [runId, org.id, type, JSON.stringify(data)],
    );
}
