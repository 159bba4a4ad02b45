/**
 * What entity decorators cannot say: indexes over expressions and triggers. The migrations create these after the tables; TypeORM's
 * comparison of entities and database does not look at them.
 */
export const SCHEMA_EXTRAS: { name: string; up: string; down: string }[] = [
  // A platform key may stand on two routes, but only one of them is in use at a time. Organizations have their own key space.
  index(
    'model_catalog_enabled_key',
    'UNIQUE INDEX',
    `model_catalog (key, coalesce(owner_org_id, '00000000-0000-0000-0000-000000000000')) WHERE enabled`,
  ),
  // Rows that change several times in their first seconds: with room on their page, an update touches no index.
  fillfactor('chats', 70),
  fillfactor('turns', 70),
];

function fillfactor(table: string, percent: number): { name: string; up: string; down: string } {
  return {
    name: `${table}_fillfactor`,
    up: `ALTER TABLE ${table} SET (fillfactor = ${percent})`,
    down: `ALTER TABLE ${table} RESET (fillfactor)`,
  };
}

function index(name: string, kind: 'INDEX' | 'UNIQUE INDEX', on: string): { name: string; up: string; down: string } {
  return { name, up: `CREATE ${kind} ${name} ON ${on}`, down: `DROP INDEX ${name}` };
}
