import type { Db } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';

/** How long runs that a fault hit stood still, seconds. */
export interface Recovery {
  hit: number;
  p50: number;
  p95: number;
  max: number;
}

interface Hit<K> {
  fault: K;
  since: number;
  fence: string;
  owner: string;
  steps: number;
}

interface Run {
  id: string;
  status: string;
  fence: string;
  steps_done: number;
  owner: string | null;
}

/** After a restart of PostgreSQL no missing lock tells that a worker has died; what is killed then waits because of that. */
const NO_EVIDENCE_MS = 13_000;

/** What faults of a campaign may be called, as far as it matters here. */
export interface FaultMeanings<K> {
  /** Its worker may bring what it has to an end, or let go of it. */
  ended?: K;
  killed: K;
  postgresRestarted: K;
}

/** Measures how long runs of some tables stand still that a fault has hit. */
export class Recoveries<K extends string> {
  private readonly hits = new Map<string, Hit<K>>();
  private readonly seconds = new Map<K, number[]>();
  private readonly runs: string;
  private postgresRestartedAt = -Infinity;

  constructor(
    private readonly db: Db,
    tables: string[],
    private readonly meaning: FaultMeanings<K>,
  ) {
    this.runs = tables.map((table) => `SELECT id, status, fence, steps_done, lease_owner AS owner FROM ${table}`).join(' UNION ALL ');
  }

  /** How many runs that a fault has hit have not gone on. */
  get open(): number {
    return this.hits.size;
  }

  /** Notes the runs that are under a lease of such an owner (LIKE): a fault has just hit them. */
  async hit(fault: K, owner: string, since = performance.now()): Promise<void> {
    const { killed, postgresRestarted } = this.meaning;
    if (fault === postgresRestarted) this.postgresRestartedAt = since;
    else if (fault === killed && since - this.postgresRestartedAt < NO_EVIDENCE_MS) fault = postgresRestarted;
    const text = `SELECT * FROM (${this.runs}) r WHERE status = 'running' AND owner LIKE $1`;
    for (const { id, fence, owner: by, steps_done: steps } of await this.db.query(sql<Run & { owner: string }>(text), [owner]))
      if (!this.hits.has(id)) this.hits.set(id, { fault, since, fence, owner: by, steps });
  }

  /** To be called again and again. */
  async look(): Promise<void> {
    if (this.hits.size === 0) return;
    const rows = await this.db.query(sql<Run>(`SELECT * FROM (${this.runs}) r WHERE id = ANY($1::uuid[])`), [[...this.hits.keys()]]);
    for (const row of rows) {
      const hit = this.hits.get(row.id)!;
      const isSameClaim = row.status === 'running' && row.fence === hit.fence;
      if (hit.fault === this.meaning.ended) {
        // It stands still from when it is let go of; the worker may bring it to its end as well.
        if (isSameClaim && row.owner === hit.owner) hit.since = performance.now();
        if (isSameClaim) continue;
        this.hits.delete(row.id);
        if (row.fence === hit.fence) continue;
      } else {
        if (isSameClaim && row.steps_done === hit.steps) continue;
        this.hits.delete(row.id);
      }
      this.seconds.set(hit.fault, [...(this.seconds.get(hit.fault) ?? []), (performance.now() - hit.since) / 1000]);
    }
  }

  /** By fault, of those that have gone on. */
  verdict(): Partial<Record<K, Recovery>> {
    return Object.fromEntries([...this.seconds].map(([fault, seconds]) => [fault, recoveryOf(seconds)])) as Partial<Record<K, Recovery>>;
  }
}

function recoveryOf(seconds: number[]): Recovery {
  const sorted = [...seconds].sort((a, b) => a - b);
  const quantile = (q: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] * 10) / 10;
  return { hit: sorted.length, p50: quantile(0.5), p95: quantile(0.95), max: quantile(1) };
}

/** Rows of a Markdown table: each fault, how often it was done, how many runs it hit, and how long these stood still. */
export function recoveryTable<K extends string>(faults: Record<K, number>, recoveries: Partial<Record<K, Recovery>>): string[] {
  return [
    ...['| Fault | times | runs that it hit | went on after, s (p50 / p95 / max) |', '|---|---|---|---|'],
    ...(Object.keys(faults) as K[]).map((kind) => {
      const { hit, p50, p95, max } = recoveries[kind] ?? { hit: 0 };
      return `| ${kind.replaceAll('_', ' ')} | ${faults[kind]} | ${hit} | ${hit ? `${p50} / ${p95} / ${max}` : ''} |`;
    }),
  ];
}
