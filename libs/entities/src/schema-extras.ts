import { LEDGER_EXTRAS } from './billing/ledger.sql';
import { EVENTS_COUNTED_EVERY } from './platform/event.entity';
import { IN_PROJECTS, PRIVATE_IN_PROJECTS } from './projects/projects.entities';
import { NIL_UUID, privateTo, TALLIES, tallied } from './tallies';

/** A part of the schema that entities do not have. */
export interface Extra {
  name: string;
  up: string;
  down: string;
}

/** Tables that keep something of chats, and are listed across them. */
const OF_CHATS = ['decisions', 'hitl_requests'];

/**
 * What entity decorators cannot say: indexes over expressions and triggers. The migrations create these after the tables; TypeORM's
 * comparison of entities and database does not look at them.
 */
export const SCHEMA_EXTRAS: Extra[] = [
  // A platform key may stand on two routes, but only one of them is in use at a time. Organizations have their own key space.
  index(
    'model_catalog_enabled_key',
    'UNIQUE INDEX',
    `model_catalog (key, coalesce(owner_org_id, '00000000-0000-0000-0000-000000000000')) WHERE enabled`,
  ),
  index('agent_revisions_model', 'INDEX', `agent_revisions ((config->>'model')) WHERE config->>'model' IS NOT NULL`),
  index('process_revisions_refs', 'INDEX', `process_revisions USING gin (refs) WHERE status = 'deployed'`),
  // The mails of a chat: those that are in it, and those that were before they were dispatched again.
  index('inbox_messages_dispatched', 'INDEX', `inbox_messages ((dispatched->>'chat_id')) WHERE dispatched->>'chat_id' IS NOT NULL`),
  index(
    'inbox_messages_previous',
    'INDEX',
    `inbox_messages USING gin (previous_dispatches jsonb_path_ops) WHERE previous_dispatches <> '[]'`,
  ),
  index('knowledge_chunks_words', 'INDEX', 'knowledge_chunks USING gin (words)'),
  // Rows that change several times in their first seconds: with room on their page, an update touches no index.
  fillfactor('chats', 70),
  fillfactor('turns', 70),
  fillfactor('inbox_messages', 70),
  fillfactor('process_runs', 70),
  fillfactor('process_steps', 70),
  // What is shown of a run: one that waits for anything but a human is at work, whoever has its row at the moment.
  {
    name: 'process_runs_set_state',
    up: `CREATE FUNCTION process_runs_set_state() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.state := CASE WHEN NEW.finished_at IS NOT NULL THEN NEW.status WHEN NEW.asks_human THEN 'waiting_human' WHEN NEW.started_at IS NULL THEN 'queued' ELSE 'running' END;
      RETURN NEW; END $$`,
    down: 'DROP FUNCTION process_runs_set_state()',
  },
  {
    name: 'process_runs_state',
    up: `CREATE TRIGGER process_runs_state BEFORE INSERT OR UPDATE OF status, asks_human, started_at, finished_at ON process_runs FOR EACH ROW EXECUTE FUNCTION process_runs_set_state()`,
    down: 'DROP TRIGGER process_runs_state ON process_runs',
  },
  // Written by nobody else. A column that PostgreSQL generates by itself would need a table of TypeORM's beside it.
  {
    name: 'chats_set_private_to',
    up: `CREATE FUNCTION chats_set_private_to() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.private_to := CASE WHEN NEW.deleted_at IS NOT NULL THEN NULL WHEN NEW.shared OR NEW.created_by IS NULL THEN '${NIL_UUID}' ELSE NEW.created_by END;
      RETURN NEW; END $$`,
    down: 'DROP FUNCTION chats_set_private_to()',
  },
  {
    name: 'chats_private_to',
    up: `CREATE TRIGGER chats_private_to BEFORE INSERT OR UPDATE OF shared, created_by, deleted_at ON chats FOR EACH ROW EXECUTE FUNCTION chats_set_private_to()`,
    down: 'DROP TRIGGER chats_private_to ON chats',
  },
  // What belongs to chats is seen as they are. The lock holds off who shares or deletes the chat meanwhile; a turn has it anyway.
  {
    name: 'private_to_of_chat',
    up: `CREATE FUNCTION private_to_of_chat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.chat_id IS NULL THEN NEW.private_to := '${NIL_UUID}';
      ELSE SELECT c.private_to INTO NEW.private_to FROM chats c WHERE c.id = NEW.chat_id FOR SHARE; END IF;
      RETURN NEW; END $$`,
    down: 'DROP FUNCTION private_to_of_chat()',
  },
  ...OF_CHATS.map((table) => ({
    name: `${table}_private_to`,
    up: `CREATE TRIGGER ${table}_private_to BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION private_to_of_chat()`,
    down: `DROP TRIGGER ${table}_private_to ON ${table}`,
  })),
  {
    name: 'chats_carry_private_to',
    up: `CREATE FUNCTION chats_carry_private_to() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      ${OF_CHATS.map((table) => `UPDATE ${table} SET private_to = NEW.private_to WHERE chat_id = NEW.id;`).join(' ')}
      RETURN NULL; END $$`,
    down: 'DROP FUNCTION chats_carry_private_to()',
  },
  {
    name: 'chats_carried',
    up: `CREATE TRIGGER chats_carried AFTER UPDATE OF shared, created_by, deleted_at ON chats FOR EACH ROW
      WHEN (OLD.private_to IS DISTINCT FROM NEW.private_to) EXECUTE FUNCTION chats_carry_private_to()`,
    down: 'DROP TRIGGER chats_carried ON chats',
  },
  {
    name: 'follow_project',
    up: `CREATE FUNCTION follow_project() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE whose uuid := '${NIL_UUID}'; BEGIN
      IF TG_ARGV[0] = 'connection' THEN whose := ${privateTo('NEW')}; END IF;
      IF NEW.project_id IS NULL OR NEW.deleted_at IS NOT NULL THEN
        DELETE FROM project_resources WHERE ref = TG_ARGV[0] || ':' || NEW.id;
      ELSE
        INSERT INTO project_resources (ref, org_id, project_id, entity_type, entity_id, private_to, added_at)
        VALUES (TG_ARGV[0] || ':' || NEW.id, NEW.org_id, NEW.project_id, TG_ARGV[0], NEW.id, whose, statement_timestamp())
        ON CONFLICT (ref) DO UPDATE SET project_id = excluded.project_id, private_to = excluded.private_to,
          added_at = CASE project_resources.project_id WHEN excluded.project_id THEN project_resources.added_at ELSE excluded.added_at END;
      END IF;
      RETURN NULL; END $$`,
    down: 'DROP FUNCTION follow_project()',
  },
  ...Object.entries(IN_PROJECTS).flatMap(([type, table]) => {
    const columns = ['project_id', 'deleted_at', ...(PRIVATE_IN_PROJECTS[table] ?? [])];
    const of = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
    return [
      {
        name: `${table}_in_project`,
        up: `CREATE TRIGGER ${table}_in_project AFTER INSERT ON ${table} FOR EACH ROW
        WHEN (NEW.project_id IS NOT NULL) EXECUTE FUNCTION follow_project('${type}')`,
        down: `DROP TRIGGER ${table}_in_project ON ${table}`,
      },
      {
        name: `${table}_moved`,
        up: `CREATE TRIGGER ${table}_moved AFTER UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW
        WHEN (coalesce(OLD.project_id, NEW.project_id) IS NOT NULL AND (${of('OLD')}) IS DISTINCT FROM (${of('NEW')}))
        EXECUTE FUNCTION follow_project('${type}')`,
        down: `DROP TRIGGER ${table}_moved ON ${table}`,
      },
    ];
  }),
  // A user's organizations are found in order without looking at each. The lock holds off who renames or deletes the organization meanwhile.
  {
    name: 'memberships_set_sort_name',
    up: `CREATE FUNCTION memberships_set_sort_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      SELECT lower(o.name) INTO NEW.sort_name FROM organizations o WHERE o.id = NEW.org_id AND o.deleted_at IS NULL FOR SHARE;
      RETURN NEW; END $$`,
    down: 'DROP FUNCTION memberships_set_sort_name()',
  },
  {
    name: 'memberships_sort_name',
    up: `CREATE TRIGGER memberships_sort_name BEFORE INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION memberships_set_sort_name()`,
    down: 'DROP TRIGGER memberships_sort_name ON memberships',
  },
  {
    name: 'organizations_carry_sort_name',
    up: `CREATE FUNCTION organizations_carry_sort_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE memberships SET sort_name = CASE WHEN NEW.deleted_at IS NULL THEN lower(NEW.name) END WHERE org_id = NEW.id;
      RETURN NULL; END $$`,
    down: 'DROP FUNCTION organizations_carry_sort_name()',
  },
  {
    name: 'organizations_carried',
    up: `CREATE TRIGGER organizations_carried AFTER UPDATE OF name, deleted_at ON organizations FOR EACH ROW
      WHEN ((OLD.name, OLD.deleted_at) IS DISTINCT FROM (NEW.name, NEW.deleted_at)) EXECUTE FUNCTION organizations_carry_sort_name()`,
    down: 'DROP TRIGGER organizations_carried ON organizations',
  },
  // Events never change, and what is before one is there before it: counted once, it holds for ever.
  {
    name: 'events_count',
    up: `CREATE FUNCTION events_count() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      WITH counted AS (SELECT seq, counts FROM event_counts WHERE topic = NEW.topic AND seq < NEW.seq ORDER BY seq DESC LIMIT 1),
        found AS (
          SELECT key AS type, value::int AS n FROM counted CROSS JOIN jsonb_each_text(counted.counts)
          UNION ALL SELECT e.type, 1 FROM events e WHERE e.topic = NEW.topic AND e.seq <= NEW.seq AND e.seq > coalesce((SELECT seq FROM counted), 0)
        )
      INSERT INTO event_counts (topic, seq, org_id, counts)
      SELECT NEW.topic, NEW.seq, NEW.org_id, jsonb_object_agg(type, n) FROM (SELECT type, sum(n) AS n FROM found GROUP BY type) sums;
      RETURN NULL; END $$`,
    down: 'DROP FUNCTION events_count()',
  },
  {
    name: 'events_counted',
    up: `CREATE TRIGGER events_counted AFTER INSERT ON events FOR EACH ROW WHEN (NEW.seq % ${EVENTS_COUNTED_EVERY} = 0) EXECUTE FUNCTION events_count()`,
    down: 'DROP TRIGGER events_counted ON events',
  },
  // What is left of a budget is read behind a lock (docs/adr/0021-budgets-are-reserved.md). Each time it is asked, a function that is neither stable nor immutable sees what was committed until then; a statement that asks it
  // behind a lock so learns what whoever held the lock before has written, which its own parts do not see.
  // Receipts are looked up one by one: planned while the tables were empty, an EXISTS would read all of them for ever.
  {
    name: 'budget_use(uuid, text[])',
    up: `CREATE FUNCTION budget_use(org uuid, apart text[]) RETURNS TABLE (spent numeric, held numeric) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$ BEGIN
      RETURN QUERY SELECT
        (SELECT coalesce(sum(t.chats_usd_cost), 0) FROM usage_tallies t WHERE t.org_id = org AND t.hour >= date_trunc('month', now(), 'UTC')),
        (SELECT coalesce(sum(h.amount), 0) FROM call_holds h WHERE h.org_id = org AND h.unit = 'usd' AND h.work <> ALL (apart) AND h.expires_at > now()
           AND (SELECT r.id FROM inference_receipts r WHERE r.id = h.receipt_id) IS NULL);
      END $$`,
    down: 'DROP FUNCTION budget_use(uuid, text[])',
  },
  // The same of credits. The grace below zero is a share of what the plan grants each month.
  {
    name: 'credit_use(uuid, text[])',
    up: `CREATE FUNCTION credit_use(org uuid, apart text[]) RETURNS TABLE (remaining numeric, held numeric) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$ BEGIN
      RETURN QUERY SELECT
        coalesce((SELECT c.balance + c.purchased_balance FROM org_credits c WHERE c.org_id = org), 0)
          + coalesce((SELECT round(p.monthly_credits * p.overdraft_pct / 100, 6) FROM subscriptions s JOIN plans p ON p.id = s.plan_id WHERE s.org_id = org), 0),
        (SELECT coalesce(sum(h.amount), 0) FROM call_holds h WHERE h.org_id = org AND h.unit = 'credits' AND h.work <> ALL (apart) AND h.expires_at > now()
           AND (SELECT r.id FROM inference_receipts r WHERE r.id = h.receipt_id) IS NULL);
      END $$`,
    down: 'DROP FUNCTION credit_use(uuid, text[])',
  },
  // And of what an agent may use in a period, whether or not it is paid in credits; no row where its live revision sets no budget. Whole hours come from the tally, those of
  // the hour in which the period began from the receipts.
  {
    name: 'agent_credit_use(uuid, uuid, text[])',
    up: `CREATE FUNCTION agent_credit_use(org uuid, agent uuid, apart text[]) RETURNS TABLE (budget numeric, used numeric) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
      DECLARE most numeric; since timestamptz; whole timestamptz;
      BEGIN
        SELECT (r.config->>'budget_credits_per_period')::numeric INTO most FROM agents a JOIN agent_revisions r ON r.id = a.live_revision_id WHERE a.id = agent AND a.org_id = org;
        IF most IS NULL THEN RETURN; END IF;
        since := coalesce((SELECT s.period_start FROM subscriptions s WHERE s.org_id = org AND s.period_end IS NOT NULL), date_trunc('month', now(), 'UTC'));
        whole := date_trunc('hour', since, 'UTC');
        IF whole < since THEN whole := whole + interval '1 hour'; END IF;
        RETURN QUERY SELECT most,
          (SELECT coalesce(sum(t.credits), 0) FROM usage_tallies t WHERE t.org_id = org AND t.hour >= whole AND t.agent_id = agent)
          + (SELECT coalesce(sum(r.credits), 0) FROM inference_receipts r WHERE r.org_id = org AND r.created_at >= since AND r.created_at < whole AND r.agent_id = agent)
          + (SELECT coalesce(sum(h.amount), 0) FROM call_holds h WHERE h.org_id = org AND h.agent_id = agent AND h.unit = 'credits' AND h.work <> ALL (apart) AND h.expires_at > now()
               AND (SELECT r.id FROM inference_receipts r WHERE r.id = h.receipt_id) IS NULL);
      END $$`,
    down: 'DROP FUNCTION agent_credit_use(uuid, uuid, text[])',
  },
  // Lists of organizations look for their plan, in the order in which they were made.
  {
    name: 'subscriptions_carry_plan',
    up: `CREATE FUNCTION subscriptions_carry_plan() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE organizations SET plan_id = NEW.plan_id WHERE id = coalesce(NEW.org_id, OLD.org_id) AND plan_id IS DISTINCT FROM NEW.plan_id; RETURN NULL; END $$`,
    down: 'DROP FUNCTION subscriptions_carry_plan()',
  },
  {
    name: 'subscriptions_carried',
    up: `CREATE TRIGGER subscriptions_carried AFTER INSERT OR UPDATE OF plan_id OR DELETE ON subscriptions FOR EACH ROW EXECUTE FUNCTION subscriptions_carry_plan()`,
    down: 'DROP TRIGGER subscriptions_carried ON subscriptions',
  },
  ...LEDGER_EXTRAS,
  ...TALLIES.flatMap(tallied),
];

function fillfactor(table: string, percent: number): Extra {
  return {
    name: `${table}_fillfactor`,
    up: `ALTER TABLE ${table} SET (fillfactor = ${percent})`,
    down: `ALTER TABLE ${table} RESET (fillfactor)`,
  };
}

function index(name: string, kind: 'INDEX' | 'UNIQUE INDEX', on: string): Extra {
  return { name, up: `CREATE ${kind} ${name} ON ${on}`, down: `DROP INDEX ${name}` };
}
