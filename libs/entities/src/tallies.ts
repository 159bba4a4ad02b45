/**
 * How many rows a table has by some of their columns: so the total of a list does not grow with the list. Triggers append a 1 for each row
 * that comes and a -1 for each that goes, in its transaction, so the sum is exact at any moment and nobody waits for another's counter; a
 * maintenance task folds what was appended. See docs/adr/0019-totals-are-tallied.md.
 */
export interface Tally {
  /** The table of the sums: {@link Tally.by}, `n`, and whether it is folded. */
  table: string;
  /** The table whose rows are counted. */
  of: string;
  /** Its columns, each with what a row puts there, in which `row` stands for the row. Never null: the nil UUID stands for nobody. */
  by: Record<string, string>;
  /** Which rows count. */
  counts?: string;
  /** Columns of the table whose change may take a row from one sum to another. */
  moves?: string[];
}

/** Stands for nobody in tallies, and for everyone in `private_to`. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export const CHAT_TALLY: Tally = {
  table: 'chat_tallies',
  of: 'chats',
  by: { org_id: 'row.org_id', agent_id: 'row.agent_id', private_to: 'row.private_to' },
  counts: 'row.private_to IS NOT NULL',
  moves: ['shared', 'created_by', 'deleted_at'],
};

export const DECISION_TALLY: Tally = {
  table: 'decision_tallies',
  of: 'decisions',
  by: {
    org_id: 'row.org_id',
    agent_id: 'row.agent_id',
    private_to: 'row.private_to',
    kind: 'row.kind',
    review_status: 'row.review_status',
    deviation: 'row.deviation',
    determination: 'row.determination',
    archived: 'row.archived_at IS NOT NULL',
  },
  counts: 'row.private_to IS NOT NULL',
  moves: ['private_to', 'review_status', 'archived_at'],
};

export const HITL_TALLY: Tally = {
  table: 'hitl_tallies',
  of: 'hitl_requests',
  by: {
    org_id: 'row.org_id',
    agent_id: `coalesce(row.agent_id, '${NIL_UUID}')`,
    private_to: 'row.private_to',
    assignee_user_id: `coalesce(row.assignee_user_id, '${NIL_UUID}')`,
    status: 'row.status',
  },
  counts: 'row.private_to IS NOT NULL',
  moves: ['private_to', 'assignee_user_id', 'status'],
};

export const AUDIT_TALLY: Tally = {
  table: 'audit_tallies',
  of: 'audit_log',
  by: {
    org_id: `coalesce(row.org_id, '${NIL_UUID}')`,
    source: 'row.source',
    action: 'row.action',
    actor_id: `coalesce(row.actor_id, '${NIL_UUID}')`,
  },
};

export const TALLIES = [CHAT_TALLY, DECISION_TALLY, HITL_TALLY, AUDIT_TALLY];

const namesOf = ({ by }: Tally): string => Object.keys(by).join(', ');
const valuesOf = ({ by }: Tally, row: string): string => Object.values(by).map((sql) => sql.replaceAll('row.', `${row}.`)).join(', '); // prettier-ignore
const countsOf = ({ counts = 'true' }: Tally, row: string): string => counts.replaceAll('row.', `${row}.`);

/** What keeps a tally, as an extra of the schema. */
export function tallied(tally: Tally): { name: string; up: string; down: string }[] {
  const { table, of, moves } = tally;
  const append = (row: string, n: number) =>
    `IF ${countsOf(tally, row)} THEN INSERT INTO ${table} (${namesOf(tally)}, n) VALUES (${valuesOf(tally, row)}, ${n}); END IF;`;
  const key = (row: string) => `ROW(${countsOf(tally, row)}, ${valuesOf(tally, row)})`;
  const trigger = (name: string, when: string) => ({
    name,
    up: `CREATE TRIGGER ${name} AFTER ${when} EXECUTE FUNCTION ${table}_append()`,
    down: `DROP TRIGGER ${name} ON ${of}`,
  });
  return [
    {
      name: `${table}_append`,
      up: `CREATE FUNCTION ${table}_append() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP <> 'INSERT' THEN ${append('OLD', -1)} END IF;
        IF TG_OP <> 'DELETE' THEN ${append('NEW', 1)} END IF;
        RETURN NULL; END $$`,
      down: `DROP FUNCTION ${table}_append()`,
    },
    trigger(`${table}_of`, `INSERT OR DELETE ON ${of} FOR EACH ROW`),
    ...(moves ? [trigger(`${table}_moved`, `UPDATE OF ${moves.join(', ')} ON ${of} FOR EACH ROW WHEN (${key('OLD')} IS DISTINCT FROM ${key('NEW')})`)] : []), // prettier-ignore
  ];
}

/**
 * SQL that adds up what was appended, one folder at a time. Value: how many rows at most. A reader sees all of it or nothing.
 *
 * @returns SQL that answers `n`, how many rows it found
 */
export const foldOf = (tally: Tally): string => {
  const names = Object.keys(tally.by);
  return `
    WITH found AS MATERIALIZED (
      SELECT ${namesOf(tally)} FROM ${tally.table} WHERE NOT folded AND pg_try_advisory_xact_lock(hashtextextended('fold ${tally.table}', 0)) LIMIT $1
    ), gone AS (
      DELETE FROM ${tally.table} t USING (SELECT DISTINCT * FROM found) f WHERE ${names.map((name) => `t.${name} = f.${name}`).join(' AND ')} RETURNING t.*
    ), sums AS (
      INSERT INTO ${tally.table} (${namesOf(tally)}, n, folded) SELECT ${namesOf(tally)}, sum(n), true FROM gone GROUP BY ${namesOf(tally)} HAVING sum(n) <> 0
    )
    SELECT count(*)::int AS n FROM found`;
};

/** SQL that counts anew, in the order in which it must run, within a transaction. Nobody writes the counted table meanwhile, and nobody folds. */
export const recountOf = (tally: Tally): string[] => [
  `LOCK TABLE ${tally.of} IN SHARE MODE`,
  // A fold that is under way would leave a sum that is not seen yet, and so not deleted.
  `LOCK TABLE ${tally.table} IN EXCLUSIVE MODE`,
  `DELETE FROM ${tally.table}`,
  `INSERT INTO ${tally.table} (${namesOf(tally)}, n, folded)
   SELECT ${valuesOf(tally, 'row')}, count(*), true FROM ${tally.of} row WHERE ${countsOf(tally, 'row')} GROUP BY ${Object.keys(tally.by).map((_, i) => i + 1).join(', ')}`, // prettier-ignore
];
