/**
 * Sums over the rows of a table by some of their columns: so what is summed up does not grow with the rows. Triggers append what each row
 * adds that comes, and the same less for each that goes, in its transaction, so a sum is exact at any moment and nobody waits for
 * another's counter; a maintenance task folds what was appended. See docs/adr/0019-totals-are-tallied.md.
 */
export interface Tally {
  /** The table of the sums: {@link Source.by}, {@link Source.sums}, and whether it is folded. */
  table: string;
  /** What is summed up. Several have the same names in `by`. */
  of: readonly [Source, ...Source[]];
}

/** Rows of a table in a tally. In its SQL `row` stands for the row. */
export interface Source {
  rows: string;
  /** Names its triggers, where the tally counts the same rows in another way besides. */
  as?: string;
  /** The tally's columns, each with what a row puts there. Never null: the nil UUID stands for nobody, an empty text for nothing. */
  by: Record<string, string>;
  /** What a row adds, by the tally's column; without it, 1 to `n`. */
  sums?: Record<string, string>;
  /** A time of the row, of which the tally's `latest` has the newest. Null where a row has gone that was not folded yet: then it is to be looked for. */
  latest?: string;
  /** Which rows count. */
  counts?: string;
  /** Columns of the table whose change may take a row from one sum to another. */
  moves?: string[];
}

/** Stands for nobody in tallies, and for everyone in `private_to`. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';
/** Stands for whom what is private belonged to and who has left: nobody sees it as theirs. */
export const MAX_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** SQL of whom a connection is private to. */
export const privateTo = (connection: string): string =>
  `CASE ${connection}.scope WHEN 'org' THEN '${NIL_UUID}' ELSE coalesce(${connection}.owner_user_id, '${MAX_UUID}') END`;

export const CHAT_TALLY: Tally = {
  table: 'chat_tallies',
  of: [
    {
      rows: 'chats',
      by: { org_id: 'row.org_id', agent_id: 'row.agent_id', private_to: 'row.private_to' },
      counts: 'row.private_to IS NOT NULL',
      moves: ['shared', 'created_by', 'deleted_at'],
    },
  ],
};

const DECISIONS = {
  rows: 'decisions',
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
} satisfies Source;

export const DECISION_TALLY: Tally = { table: 'decision_tallies', of: [DECISIONS] };

/** The same by what they cite as well: for groups. Apart, since a total shall not add up a row for each rule. */
export const BASIS_TALLY: Tally = {
  table: 'basis_tallies',
  of: [{ ...DECISIONS, by: { ...DECISIONS.by, basis: 'row.basis' }, latest: 'row.created_at' }],
};

export const HITL_TALLY: Tally = {
  table: 'hitl_tallies',
  of: [
    {
      rows: 'hitl_requests',
      by: {
        org_id: 'row.org_id',
        agent_id: `coalesce(row.agent_id, '${NIL_UUID}')`,
        private_to: 'row.private_to',
        assignee_user_id: `coalesce(row.assignee_user_id, '${NIL_UUID}')`,
        status: 'row.status',
      },
      counts: 'row.private_to IS NOT NULL',
      moves: ['private_to', 'assignee_user_id', 'status'],
    },
  ],
};

const hourOf = (column: string) => `date_trunc('hour', row.${column}, 'UTC')`;

/** What organizations use, by the hour: chats begun, turns dispatched, and what model calls took. */
export const USAGE_TALLY: Tally = {
  table: 'usage_tallies',
  of: [
    {
      rows: 'inference_receipts',
      by: {
        org_id: 'row.org_id',
        hour: hourOf('created_at'),
        agent_id: `coalesce(row.agent_id, '${NIL_UUID}')`,
        model_key: 'row.model_key',
        feature: 'row.feature',
      },
      sums: {
        calls: '1',
        tokens: 'row.input_tokens::bigint + row.cached_input_tokens + row.cache_write_tokens + row.output_tokens + row.reasoning_tokens',
        usd_cost: 'coalesce(row.usd_cost, 0)',
        chats_usd_cost: 'CASE WHEN row.chat_id IS NULL THEN 0 ELSE coalesce(row.usd_cost, 0) END',
        credits: 'row.credits',
        burned_credits: 'CASE WHEN row.enforced THEN row.credits ELSE 0 END',
        burned_usd: 'CASE WHEN row.enforced AND row.credits > 0 THEN coalesce(row.usd_cost, 0) ELSE 0 END',
      },
    },
    // Deleted ones, too: they were begun.
    {
      rows: 'chats',
      by: { org_id: 'row.org_id', hour: hourOf('created_at'), agent_id: 'row.agent_id', model_key: `''`, feature: `''` },
      sums: { chats: '1' },
    },
    {
      rows: 'turns',
      by: {
        org_id: 'row.org_id',
        hour: hourOf('dispatched_at'),
        agent_id: '(SELECT c.agent_id FROM chats c WHERE c.id = row.chat_id)',
        model_key: `''`,
        feature: `''`,
      },
      sums: { turns: '1' },
      counts: `row.status NOT IN ('cancelled', 'skipped')`,
      moves: ['status'],
    },
  ],
};

/** The messages of inboxes, by the hour in which they came. */
export const INBOX_TALLY: Tally = {
  table: 'inbox_tallies',
  of: [
    {
      rows: 'inbox_messages',
      by: {
        org_id: 'row.org_id',
        inbox_id: 'row.inbox_id',
        channel_kind: 'row.channel_kind',
        state: 'row.state',
        verdict: `coalesce(row.verdict, '')`,
        hour: hourOf('received_at'),
      },
      moves: ['state', 'verdict'],
    },
  ],
};

/** SQL of what is shown of a source. One that is to be indexed again waits for that, whatever is done with it now. */
export const sourceState = (source: string): string =>
  `CASE WHEN ${source}.again OR ${source}.status = 'queued' THEN 'PENDING' WHEN ${source}.status = 'ready' THEN 'READY' WHEN ${source}.status = 'failed' THEN 'FAILED' ELSE 'PROCESSING' END`;

/** The sources of bases, and their chunks. */
export const KNOWLEDGE_TALLY: Tally = {
  table: 'knowledge_tallies',
  of: [
    {
      rows: 'knowledge_sources',
      by: { org_id: 'row.org_id', kb_id: 'row.kb_id', state: sourceState('row') },
      sums: { sources: '1', chunks: 'row.chunk_count' },
      moves: ['status', 'again', 'chunk_count'],
    },
  ],
};

/** What operators did anywhere, and what belongs to no organization. */
export const PLATFORM_AUDIT = `source = 'admin' OR org_id IS NULL`;

/** How many rows a list has in which little is looked for: those of `rows`, of an organization, of what they belong to there, in a `facet`. */
const list = (
  rows: string,
  { org_id = 'row.org_id', of_id = `'${NIL_UUID}'::uuid`, facet = `''` },
  rest: Partial<Source> = {},
): Source => ({
  rows,
  by: { list: `'${rest.as ?? rows}'`, org_id, of_id, facet },
  ...rest,
});
const UNLESS_DELETED = { counts: 'row.deleted_at IS NULL', moves: ['deleted_at'] };
const UNLESS_MOVED = { ...UNLESS_DELETED, moves: ['deleted_at', 'project_id'] };
const OF_PROJECT = { of_id: `coalesce(row.project_id, '${NIL_UUID}')` };
const OF_AGENT = { of_id: 'row.agent_id' };
const OF_RUN = { of_id: 'row.run_id' };
const OF_PLATFORM = { org_id: `'${NIL_UUID}'::uuid` };

export const LIST_TALLY: Tally = {
  table: 'list_tallies',
  of: [
    list(
      'agents',
      { of_id: `coalesce(row.team_id, '${NIL_UUID}')`, facet: `coalesce(row.project_id::text, '')` },
      { ...UNLESS_DELETED, moves: ['deleted_at', 'team_id', 'project_id'] },
    ),
    list('agent_revisions', OF_AGENT),
    list('instruction_revisions', OF_AGENT),
    list('rollouts', OF_AGENT),
    list('replays', { of_id: 'row.agent_id', facet: 'row.kind' }),
    // Of the arms of rollouts, deleted ones too: they were assigned.
    list(
      'chats',
      { of_id: 'row.rollout_id', facet: `coalesce(row.arm_label, '')` },
      { counts: 'row.rollout_id IS NOT NULL', moves: ['rollout_id', 'arm_label'] },
    ),
    list('memories', { of_id: 'row.owner_id', facet: 'row.owner_kind' }),
    list('memberships', {}),
    list(
      'memberships',
      { ...OF_PLATFORM, of_id: 'row.user_id' },
      { as: 'organizations_of_users', counts: 'row.sort_name IS NOT NULL', moves: ['sort_name'] },
    ),
    // The organizations' own: those of the system are few.
    list('skills', OF_PROJECT, { ...UNLESS_MOVED, counts: 'row.deleted_at IS NULL AND row.org_id IS NOT NULL' }),
    list('agent_teams', OF_PROJECT, UNLESS_MOVED),
    list('projects', {}, UNLESS_DELETED),
    list(
      'project_resources',
      { of_id: 'row.project_id', facet: `row.entity_type || ':' || row.private_to` },
      { moves: ['project_id', 'private_to'] },
    ),
    list('decisions', { of_id: 'row.chat_id' }),
    list(
      'api_tokens',
      { ...OF_PLATFORM, of_id: 'row.user_id', facet: `coalesce(row.org_id::text, '')` },
      { counts: 'row.revoked_at IS NULL', moves: ['revoked_at'] },
    ),
    list('prompt_templates', OF_PROJECT, UNLESS_MOVED),
    list(
      'connections',
      { of_id: privateTo('row'), facet: `coalesce(row.project_id::text, '')` },
      { ...UNLESS_DELETED, moves: ['deleted_at', 'scope', 'owner_user_id', 'project_id'] },
    ),
    list(
      'inboxes',
      { ...OF_PROJECT, facet: `coalesce(row.target_kind || ':' || row.target_id, '')` },
      { ...UNLESS_DELETED, moves: ['deleted_at', 'project_id', 'target_kind', 'target_id'] },
    ),
    list('processes', OF_PROJECT, UNLESS_MOVED),
    list('knowledge_bases', OF_PROJECT, UNLESS_MOVED),
    // Their state follows from these columns.
    list('process_runs', { facet: `row.process_id || ':' || row.state` }, { moves: ['status', 'asks_human', 'started_at', 'finished_at'] }),
    list('process_llm_calls', OF_RUN),
    list('process_agent_calls', OF_RUN),
    list('process_repairs', OF_RUN),
    list(
      'organizations',
      {
        ...OF_PLATFORM,
        of_id: `coalesce(row.plan_id, '${NIL_UUID}')`,
        facet: `CASE WHEN row.suspended_at IS NULL THEN '' ELSE 'suspended' END`,
      },
      { ...UNLESS_DELETED, moves: ['deleted_at', 'plan_id', 'suspended_at'] },
    ),
    list(
      'billing_events',
      { ...OF_PLATFORM, of_id: `coalesce(row.org_id, '${NIL_UUID}')`, facet: 'row.status' },
      { moves: ['org_id', 'status'] },
    ),
    list('waitlist_entries', { ...OF_PLATFORM, facet: 'row.status' }, { moves: ['status'] }),
    list('audit_log', {}, { as: 'audits_of_orgs', counts: 'row.org_id IS NOT NULL' }),
    list('audit_log', { ...OF_PLATFORM, of_id: `coalesce(row.actor_id, '${NIL_UUID}')`, facet: 'row.action' }, { counts: PLATFORM_AUDIT }),
  ],
};

/** Where a list finds its total in {@link LIST_TALLY}, as `t`. @param name the table, or as what its rows are counted */
export const listTally = (name: string): string => `(SELECT * FROM list_tallies WHERE list = '${name}') t`;

export const TALLIES = [CHAT_TALLY, DECISION_TALLY, BASIS_TALLY, HITL_TALLY, LIST_TALLY, USAGE_TALLY, INBOX_TALLY, KNOWLEDGE_TALLY];

const sumsOf = ({ sums = { n: '1' } }: Source) => sums;
const namesOf = ({ of: [{ by }] }: Tally): string[] => Object.keys(by);
/** All that its sources add to. */
const summedOf = (tally: Tally): string[] => [...new Set(tally.of.flatMap((source) => Object.keys(sumsOf(source))))];
const hasLatest = (tally: Tally): boolean => tally.of[0].latest !== undefined;

const columnsOf = (source: Source): string[] => [
  ...Object.keys(source.by),
  ...Object.keys(sumsOf(source)),
  ...(source.latest ? ['latest'] : []),
];

/** SQL that adds up rows. @param away they go: all is less, and none of them is the newest any more */
function summedUp(source: Source, rows: string, away = false): string {
  const { by, latest, counts = 'true' } = source;
  const sums = Object.values(sumsOf(source)).map((sum) => `${away ? '-' : ''}sum(${sum})`);
  const values = [...Object.values(by), ...sums, ...(latest ? [away ? 'NULL' : `max(${latest})`] : [])];
  const places = Object.keys(by).map((_, i) => i + 1);
  return `SELECT ${values.join(', ')} FROM ${rows} row WHERE ${counts} GROUP BY ${places.join(', ')}`;
}

/** What keeps a tally, as an extra of the schema. */
export const tallied = (tally: Tally): Extra[] => tally.of.flatMap((source) => kept(tally.table, source));

type Extra = { name: string; up: string; down: string };

/** What comes and goes is added up by the statement: those of many turns at once append one row. */
function kept(table: string, source: Source): Extra[] {
  const { rows, as = rows, by, counts = 'true', moves } = source;
  const columns = columnsOf(source).join(', ');
  const append = (changed: string, away = false) => `INSERT INTO ${table} (${columns}) ${summedUp(source, changed, away)};`;
  const trigger = (name: string, when: string, does: string): Extra[] => [
    {
      name: `${name}()`,
      up: `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${does} RETURN NULL; END $$`,
      down: `DROP FUNCTION ${name}()`,
    },
    { name, up: `CREATE TRIGGER ${name} AFTER ${when} EXECUTE FUNCTION ${name}()`, down: `DROP TRIGGER ${name} ON ${rows}` },
  ];
  // A trigger's condition may look at its row alone.
  const place = (row: string) =>
    `ROW(${[counts, ...[...Object.values(by), ...Object.values(sumsOf(source))].filter((sql) => !sql.includes('SELECT'))].join(', ')})`.replaceAll(
      'row.',
      `${row}.`,
    );
  return [
    ...trigger(`${as}_into_${table}`, `INSERT ON ${rows} REFERENCING NEW TABLE AS changed FOR EACH STATEMENT`, append('changed')),
    ...trigger(`${as}_out_of_${table}`, `DELETE ON ${rows} REFERENCING OLD TABLE AS changed FOR EACH STATEMENT`, append('changed', true)),
    ...(moves
      ? trigger(
          `${as}_within_${table}`,
          `UPDATE OF ${moves.join(', ')} ON ${rows} FOR EACH ROW WHEN (${place('OLD')} IS DISTINCT FROM ${place('NEW')})`,
          append('(SELECT OLD.*)', true) + append('(SELECT NEW.*)'),
        )
      : []),
  ];
}

/**
 * SQL that adds up what was appended, one folder at a time. Value: how many rows at most. A reader sees all of it or nothing.
 *
 * @returns SQL that answers `n`, how many rows it found
 */
export function foldOf(tally: Tally): string {
  const { table } = tally;
  const [names, sums] = [namesOf(tally), summedOf(tally)];
  const key = names.join(', ');
  const latest = hasLatest(tally)
    ? [`CASE WHEN bool_and(gone.latest IS NOT NULL) THEN max(gone.latest) ELSE (${newestOf(tally)}) END`]
    : [];
  return `
    WITH found AS MATERIALIZED (
      SELECT ${key} FROM ${table} WHERE NOT folded AND pg_try_advisory_xact_lock(hashtextextended('fold ${table}', 0)) LIMIT $1
    ), gone AS (
      DELETE FROM ${table} t USING (SELECT DISTINCT * FROM found) f WHERE ${names.map((name) => `t.${name} = f.${name}`).join(' AND ')} RETURNING t.*
    ), sums AS (
      INSERT INTO ${table} (${[key, ...sums, ...latest.map(() => 'latest'), 'folded'].join(', ')})
      SELECT ${[key, ...sums.map((sum) => `sum(${sum})`), ...latest, 'true'].join(', ')} FROM gone GROUP BY ${key}
      HAVING ${sums.map((sum) => `sum(${sum}) <> 0`).join(' OR ')}
    )
    SELECT count(*)::int AS n FROM found`;
}

/** The newest row behind a sum, where one that was counted has gone. */
function newestOf({ of: [{ rows, by, latest, counts = 'true' }] }: Tally): string {
  const same = Object.entries(by).map(([name, sql]) => `${sql} = gone.${name}`);
  return `SELECT max(${latest}) FROM ${rows} row WHERE ${[counts, ...same].join(' AND ')}`;
}

/**
 * SQL that counts anew, each source in a transaction of its own and in the order in which it must run there. Nobody writes the counted
 * table meanwhile, and nobody folds.
 */
export const recountOf = (tally: Tally): string[][] =>
  tally.of.map((source) => {
    const { table } = tally;
    // What is the same for all its rows tells its sums from those of other sources.
    const own = Object.entries(source.by).flatMap(([name, sql]) => (sql.includes('row.') ? [] : `${name} = ${sql}`));
    const sums = Object.keys(sumsOf(source)).map((name) => `${name} = 0`);
    return [
      `LOCK TABLE ${source.rows} IN SHARE MODE`,
      // A fold that is under way would leave a sum that is not seen yet, and so not taken away.
      `LOCK TABLE ${table} IN EXCLUSIVE MODE`,
      `UPDATE ${table} SET ${sums.join(', ')} WHERE ${own.join(' AND ') || 'true'}`,
      `DELETE FROM ${table} WHERE ${summedOf(tally)
        .map((sum) => `${sum} = 0`)
        .join(' AND ')}`,
      `INSERT INTO ${table} (${columnsOf(source).join(', ')}) ${summedUp(source, source.rows)}`,
    ];
  });
