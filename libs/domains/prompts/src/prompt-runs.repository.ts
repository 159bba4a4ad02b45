import { Injectable } from '@nestjs/common';
import type { PromptRun } from '@aps/entities';
import { chatSeenBy, type OrgScope } from '@aps/guards';
import { batchesBehind, listed, listedInBatches, PIECE, statement, type Db, type Listed, type Slice } from '@aps/platform/database';

/** For so long a process is believed to be at work after it has said so, and how often it says so. */
export const HELD_S = 30;
export const BEAT_MS = 10_000;

const HELD = `now() + interval '${HELD_S} seconds'`;

const BEGIN = statement<{ id: string }>(`
  INSERT INTO prompt_runs (id, org_id, template_id, revision_id, source, status, chat_id, call_key, model, input_preview, created_by, held_until)
  VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, $8, $9, $10, ${HELD}) RETURNING id`);
const BEAT = statement(`UPDATE prompt_runs SET held_until = ${HELD} WHERE id = $1 AND status = 'running'`);
// Whoever was thought dead and has ended after all: what it cost is noted, and the end stays as it was told.
const END = statement<PromptRun>(`
  UPDATE prompt_runs SET status = CASE WHEN status = 'running' THEN $2 ELSE status END, output = $3, data = $4, usage = $5, cost_usd = $6, cost_credits = $7,
    error = CASE WHEN status = 'running' THEN $8 ELSE error END, duration_ms = $9, updated_at = now()
  WHERE id = $1 RETURNING *`);
const LOSE = statement(`
  WITH x AS MATERIALIZED (
    SELECT id FROM prompt_runs WHERE status = 'running' AND held_until < now() ORDER BY held_until LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE prompt_runs r SET status = 'failed', error = '{"code": "worker_lost", "message": "The process that ran it has gone.", "retryable": true}', updated_at = now()
  FROM x WHERE r.id = x.id`);

const FORGET = statement(`
  WITH x AS MATERIALIZED (
    SELECT id FROM prompt_runs WHERE created_at < now() - make_interval(days => $1) AND status <> 'running'
      AND (input_preview IS NOT NULL OR output IS NOT NULL OR data IS NOT NULL) ORDER BY created_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE prompt_runs r SET input_preview = NULL, output = NULL, data = NULL FROM x WHERE r.id = x.id`);
// No operation shows them any more; what they cost is in their receipts.
const REMOVE = statement(`
  WITH x AS MATERIALIZED (
    SELECT r.id FROM prompt_templates t JOIN prompt_runs r ON r.template_id = t.id
    WHERE r.created_at < now() - make_interval(days => $1) AND t.deleted_at < now() - make_interval(days => $1) AND r.status <> 'running' ORDER BY r.created_at LIMIT $2 FOR UPDATE OF r SKIP LOCKED)
  DELETE FROM prompt_runs r USING x WHERE r.id = x.id`);

const ANSWER = statement<PromptRun>(`
  SELECT * FROM prompt_runs WHERE org_id = $1 AND call_key = $2 AND status = 'succeeded' AND output IS NOT NULL ORDER BY id DESC LIMIT 1`);
const LIST = statement<PromptRun>(`
  SELECT r.id, r.org_id, r.template_id, r.revision_id, r.source, r.status, r.chat_id, r.call_key, r.model, r.usage, r.cost_usd, r.cost_credits, r.duration_ms, r.error,
    r.created_by, r.held_until, r.created_at, r.updated_at,
    CASE WHEN seen THEN r.input_preview END AS input_preview, CASE WHEN seen THEN r.output END AS output, CASE WHEN seen THEN r.data END AS data
  FROM prompt_runs r LEFT JOIN chats c ON c.id = r.chat_id, LATERAL (SELECT r.chat_id IS NULL OR ${chatSeenBy('$2')} AS seen) s
  WHERE r.org_id = $1 AND r.template_id = $3 AND r.id < coalesce($6::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') ORDER BY r.id DESC LIMIT $4 OFFSET $5`);

/** How a run ended. */
export type PromptRunEnd = Pick<PromptRun, 'status' | 'output' | 'data' | 'usage' | 'cost_usd' | 'cost_credits' | 'error' | 'duration_ms'>;

/** Runs of templates, which are held by the process that is at work on them. */
@Injectable()
export class PromptRunsRepository {
  async begin(
    db: Db,
    scope: OrgScope,
    run: Pick<PromptRun, 'id' | 'template_id' | 'revision_id' | 'source' | 'chat_id' | 'call_key' | 'model' | 'input_preview'>,
  ): Promise<void> {
    const { id, template_id, revision_id, source, chat_id, call_key, model, input_preview } = run;
    await db.query(BEGIN, [id, scope.orgId, template_id, revision_id, source, chat_id, call_key, model, input_preview, scope.actor.userId]);
  }

  /** Says that the run is still being worked on. */
  async beat(db: Db, id: string): Promise<void> {
    await db.execute(BEAT, [id]);
  }

  /** @returns the run as it stands then; another status than the one that was meant says that it was given up before */
  async end(db: Db, id: string, end: PromptRunEnd): Promise<PromptRun> {
    const json = (value: object | null) => value && JSON.stringify(value);
    const { status, output, data, usage, cost_usd, cost_credits, error, duration_ms } = end;
    const values = [id, status, output, json(data), json(usage), cost_usd, cost_credits, json(error), duration_ms];
    return (await db.query(END, values))[0];
  }

  /** What a call has been answered with before. */
  async answerTo(db: Db, scope: OrgScope, callKey: string): Promise<PromptRun | null> {
    return (await db.query(ANSWER, [scope.orgId, callKey]))[0] ?? null;
  }

  /** Ends what nobody is at work on any more. @returns how many */
  lose(db: Db, batch: number): Promise<number> {
    return db.execute(LOSE, [batch]);
  }

  /** Forgets what runs have read and answered that are older than so many days, and removes those whose template was deleted so long ago. @returns how many of the former, or of the latter, whichever are more */
  async forget(db: Db, days: number, batch: number): Promise<number> {
    return Math.max(await db.execute(FORGET, [days, batch]), await db.execute(REMOVE, [days, batch]));
  }

  /** Newest first, without a total. What was read and answered in a chat that the caller may not open is null. */
  list(db: Db, scope: OrgScope, templateId: string, slice: Slice): Promise<Listed<PromptRun>> {
    const read = (limit: number, offset: number, before: string | null) =>
      db.query(LIST, [scope.orgId, scope.actor.userId, templateId, limit, offset, before]);
    return listedInBatches(
      slice,
      ({ limit = PIECE, offset = 0 }) => listed({ limit, offset }, read(limit + 1, offset, null), () => offset),
      // New ones come before the first: nothing moves behind a run that was read.
      (offset, size) =>
        batchesBehind(
          null as string | null,
          (run) => run.id,
          (id) => read(size, id ? 0 : offset, id),
        ),
    );
  }
}
