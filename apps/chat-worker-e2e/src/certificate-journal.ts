import { Recoveries } from '../../api-gateway-e2e/support';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@aps/platform/database';
import { MISCOUNTED } from '@aps/platform/runs/testing';
import { sql, type Chance } from '@aps/platform/testing';
import type { Ledger } from '@aps/tools/testing';
import type { Certificate, FaultKind } from './certificate';
import { startCount } from './second-kind';

export interface Acknowledged {
  chat: string;
  message: string;
  /** A user stopped the chat; the message need not be answered. */
  mayStop: boolean;
}

const POLL_MS = 100;
const AT_REST = `c.status <> 'RUNNING' AND c.current_turn_id IS NULL AND c.pending_turns = 0 AND (c.pause IS NULL OR c.pause->>'kind' = 'human')`;

/** Watches the database beside a campaign: what is at rest, how long faults delay turns, and in the end what has become of everything. */
export class Journal {
  private readonly resting = new Map<string, () => void>();
  private readonly recoveries: Recoveries<FaultKind>;
  private stuck = 0;
  private readonly watching: Promise<void>;
  private closed = false;

  constructor(
    private readonly db: Db,
    private readonly orgId: string,
  ) {
    const meaning = { ended: 'worker_ended', killed: 'worker_killed', postgresRestarted: 'postgres_restarted' } as const;
    this.recoveries = new Recoveries(db, ['turns', 'counts'], meaning);
    this.watching = this.watch();
  }

  /** Resolves when nothing of the chat runs or waits to run; counts it as stuck when that takes too long. */
  async atRest(chat: string, withinMs: number): Promise<void> {
    const late = new AbortController();
    const rested = new Promise<void>((resolve) => this.resting.set(chat, resolve));
    const gaveUp = sleep(withinMs, undefined, { signal: late.signal }).then(
      () => {
        this.resting.delete(chat);
        this.stuck++;
      },
      () => undefined,
    );
    await Promise.race([rested, gaveUp]);
    late.abort();
  }

  /** A fault has just hit the runs that are under a lease of such an owner (LIKE). */
  hit(fault: FaultKind, owner: string): Promise<void> {
    const since = performance.now();
    return this.persist(() => this.recoveries.hit(fault, owner, since));
  }

  /** Starts a run of the second kind, whatever happens to the database meanwhile. */
  startCount(chance: Chance): Promise<void> {
    const id = randomUUID();
    return this.persist(() => startCount(this.db, this.orgId, chance, id));
  }

  /** Waits until every run goes on that faults have hit, and those of the second kind are over. */
  async settle(withinMs: number): Promise<void> {
    const unsettled = async () => this.recoveries.open > 0 || (await this.miscounted()).length > 0;
    for (const end = performance.now() + withinMs; performance.now() < end && (await unsettled());) await sleep(POLL_MS);
  }

  async verdict(
    acknowledged: Acknowledged[],
    ledger: Ledger,
  ): Promise<Omit<Certificate, 'seed' | 'faults' | 'seconds' | 'counts' | `credits_${string}`>> {
    // The server is a minute or two old, and does not analyze by itself.
    await this.ask('ANALYZE', []);
    const rows = await this.ask<{ message: string; found: boolean; status: string | null; answers: number }>(
      `SELECT a.message, m.id IS NOT NULL AS found, t.status,
              (SELECT count(*)::int FROM messages r WHERE r.turn_id = t.id AND r.role = 'assistant' AND (r.tool_calls IS NULL OR r.finish_reason = 'step_limit') AND NOT r.interrupted) AS answers
       FROM unnest($1::uuid[]) AS a(message) LEFT JOIN messages m ON m.id = a.message
       LEFT JOIN LATERAL (SELECT * FROM turns t WHERE t.chat_id = m.chat_id AND t.message_id = m.id ORDER BY t.seq DESC LIMIT 1) t ON true`,
      [acknowledged.map((a) => a.message)],
    );
    const mayStop = new Map(acknowledged.map((a) => [a.message, a.mayStop]));
    const stopped = rows.filter((r) => r.status !== 'done' && mayStop.get(r.message) && ['stopped', 'skipped'].includes(r.status ?? ''));
    const answered = rows.filter((r) => r.found && r.answers > 0);
    const [{ twice }] = await this.ask<{ twice: number }>(
      `SELECT (SELECT count(*)::int FROM (SELECT 1 FROM messages m JOIN turns t ON t.id = m.turn_id WHERE m.org_id = $1 AND m.role = 'assistant' AND (m.tool_calls IS NULL OR m.finish_reason = 'step_limit') AND NOT m.interrupted GROUP BY t.id HAVING count(*) > 1) x)
            + (SELECT count(*)::int FROM messages m WHERE m.org_id = $1 AND m.role = 'user' AND m.chat_id = ANY($2::uuid[])
                 AND NOT EXISTS (SELECT 1 FROM unnest($3::uuid[]) AS a(message) WHERE a.message = m.id)) AS twice`,
      [this.orgId, [...new Set(acknowledged.map((a) => a.chat))], acknowledged.map((a) => a.message)],
    );
    const effects = await this.ask<{ effects: number; twice: number; missing: number }>(
      `SELECT (SELECT count(*)::int FROM memories WHERE org_id = $1 AND content LIKE 'effect %') AS effects,
              (SELECT count(*)::int FROM (SELECT content FROM memories WHERE org_id = $1 AND content LIKE 'effect %' GROUP BY content HAVING count(*) > 1) x) AS twice,
              (SELECT count(*)::int FROM messages m WHERE m.org_id = $1 AND m.role = 'tool' AND m.tool_name = 'memory_write' AND m.content LIKE '{"id"%'
                 AND NOT EXISTS (SELECT 1 FROM memories x WHERE x.id = (m.content::json->>'id')::uuid)) AS missing`,
      [this.orgId],
    );
    const calls = await this.callsOut(ledger);
    const [{ left }] = await this.ask<{ left: number }>(
      `SELECT count(*)::int AS left FROM chats c WHERE c.org_id = $1 AND NOT (${AT_REST})`,
      [this.orgId],
    );
    return {
      acknowledged: rows.length,
      replies: answered.length,
      stopped: stopped.length,
      lost: rows.length - new Set([...stopped, ...answered].map((r) => r.message)).size,
      duplicated: twice,
      side_effects: effects[0].effects,
      side_effects_twice: effects[0].twice,
      side_effects_missing: effects[0].missing,
      ...calls,
      counts_wrong: (await this.miscounted()).length,
      stuck: Math.max(this.stuck, left),
      runs_that_never_went_on: this.recoveries.open,
      recovery_s: this.recoveries.verdict(),
    };
  }

  /** What the other side of calls that went out has written down, against what our journal says of them. */
  private async callsOut(ledger: Ledger): Promise<Pick<Certificate, Extract<keyof Certificate, `calls_out${string}`>>> {
    const rows = await this.ask<{ key: string; once: boolean; result: string; status: string }>(
      `SELECT s.turn_id || '/' || s.step_no || '/' || s.tool_call_id AS key, m.tool_name = 'con_books_once' AS once, m.content AS result, s.status
       FROM turn_steps s JOIN messages m ON m.turn_id = s.turn_id AND m.tool_call_id = s.tool_call_id
       WHERE s.org_id = $1 AND m.tool_name IN ('con_books_once', 'con_books_by_key')`,
      [this.orgId],
    );
    const tally = (entries: { key: string }[]) => {
      const times = new Map<string, number>();
      for (const { key } of entries) times.set(key, (times.get(key) ?? 0) + 1);
      return times;
    };
    const [effects, arrived] = [tally(ledger.effects), tally(ledger.arrived)];
    const said = new Set(rows.map(({ key }) => key));
    return {
      calls_out: rows.length,
      calls_out_twice: rows.filter(({ key, once }) => (effects.get(key) ?? 0) > 1 || (once && (arrived.get(key) ?? 0) > 1)).length,
      calls_out_missing: rows.filter(({ key, result }) => result === 'booked' && !effects.has(key)).length,
      calls_out_unknown: rows.filter(({ status }) => status === 'outcome_unknown').length,
      calls_out_unsaid:
        [...arrived.keys()].filter((key) => !said.has(key)).length +
        rows.filter(({ result, status }) => result !== 'booked' && status !== 'outcome_unknown').length,
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.watching;
  }

  private async watch(): Promise<void> {
    while (!this.closed) {
      await sleep(POLL_MS);
      try {
        await this.look();
      } catch {
        // The server is away; that is part of it.
      }
    }
  }

  private async look(): Promise<void> {
    if (this.resting.size > 0) {
      const rows = await this.db.query(sql<{ id: string }>(`SELECT c.id FROM chats c WHERE c.id = ANY($1::uuid[]) AND ${AT_REST}`), [
        [...this.resting.keys()],
      ]);
      for (const { id } of rows) {
        this.resting.get(id)?.();
        this.resting.delete(id);
      }
    }
    await this.recoveries.look();
  }

  private miscounted(): Promise<unknown[]> {
    return this.persist(() => this.db.query(MISCOUNTED));
  }

  private ask<R extends object>(text: string, values: unknown[]): Promise<R[]> {
    return this.persist(() => this.db.query(sql<R>(text), values));
  }

  /** Asks until there is an answer. */
  private async persist<T>(ask: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + 60_000; ; await sleep(POLL_MS)) {
      try {
        return await ask();
      } catch (error) {
        if (performance.now() > end) throw error;
      }
    }
  }
}
