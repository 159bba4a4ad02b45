import { TALLIES, tallied } from './tallies';

/** A part of the schema that entities do not have. */
interface Extra {
  name: string;
  up: string;
  down: string;
}

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
  // Rows that change several times in their first seconds: with room on their page, an update touches no index.
  fillfactor('chats', 70),
  fillfactor('turns', 70),
  // Written by nobody else. A column that PostgreSQL generates by itself would need a table of TypeORM's beside it.
  {
    name: 'chats_set_private_to',
    up: `CREATE FUNCTION chats_set_private_to() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.private_to := CASE WHEN NEW.deleted_at IS NOT NULL THEN NULL WHEN NEW.shared OR NEW.created_by IS NULL THEN '00000000-0000-0000-0000-000000000000' ELSE NEW.created_by END;
      RETURN NEW; END $$`,
    down: 'DROP FUNCTION chats_set_private_to()',
  },
  {
    name: 'chats_private_to',
    up: `CREATE TRIGGER chats_private_to BEFORE INSERT OR UPDATE OF shared, created_by, deleted_at ON chats FOR EACH ROW EXECUTE FUNCTION chats_set_private_to()`,
    down: 'DROP TRIGGER chats_private_to ON chats',
  },
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
