import { Chance, sql } from '@aps/platform/testing';

/** How many schedules a spec plays: `npm run certify` plays thousands, which CERTIFY_SCHEDULES says. */
export const schedulesOr = (few: number): number => Number(process.env.CERTIFY_SCHEDULES ?? few);

/**
 * Plays schedules, some beside each other, from the seed that TEST_SEED says, or any.
 *
 * @param player what each of those beside each other plays with; it answers what of a schedule does not hold
 * @param seen what has come about in them all
 * @returns what does not hold, by seed
 */
export async function playSchedules(
  what: string,
  count: number,
  atOnce: number,
  player: () => Promise<(chance: Chance) => Promise<string[]>>,
  seen: () => Promise<string[]> | string[],
): Promise<string[]> {
  const first = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
  const failures: string[] = [];
  let next = first;
  const one = async () => {
    const play = await player();
    while (next < first + count) {
      const chance = new Chance(next++);
      failures.push(...(await play(chance)).map((wrong) => `seed ${chance.seed}: ${wrong}`));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, one));
  if (process.env.CERTIFY_SCHEDULES) {
    const rows = [
      ['first seed', first],
      ['schedules', count],
      ['not as the table has it', failures.length],
      ['changes of state seen', [...(await seen())].sort().join(', ')],
    ];
    process.stdout.write(`\n| ${what} | |\n|---|---|\n${rows.map(([name, value]) => `| ${name} | ${value} |\n`).join('')}`);
  }
  return failures;
}

/** Statements that have the database refuse every change of a column that is none of these, each `from>to`: whatever a spec does, it does within the table. */
export const refuseOtherMoves = (table: string, column: string, moves: readonly string[]) => [
  sql(`CREATE FUNCTION refuse_moves_of_${table}_${column}() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION '${table} cannot move from % to %', OLD.${column}, NEW.${column}; END $$`),
  // After what triggers make of the row.
  sql(`CREATE TRIGGER moves_of_${column}_only AFTER UPDATE ON ${table} FOR EACH ROW
       WHEN (OLD.${column} <> NEW.${column} AND OLD.${column} || '>' || NEW.${column} NOT IN (${moves.map((move) => `'${move}'`).join(', ')}))
       EXECUTE FUNCTION refuse_moves_of_${table}_${column}()`),
];

/** Statements that have the database note each change of a column, for {@link movesSeen}. */
export const noteMoves = (table: string, column: string) => [
  sql(`CREATE TABLE moves_of_${table} (move text)`),
  sql(`CREATE FUNCTION note_moves_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO moves_of_${table} VALUES (OLD.${column} || '>' || NEW.${column}); RETURN NULL; END $$`),
  sql(
    `CREATE TRIGGER moves_noted AFTER UPDATE ON ${table} FOR EACH ROW WHEN (OLD.${column} <> NEW.${column}) EXECUTE FUNCTION note_moves_of_${table}()`,
  ),
];
export const movesSeen = (table: string) => sql<{ move: string }>(`SELECT DISTINCT move FROM moves_of_${table}`);

/** Whether a request has waited too long for others at the same thing, and has done nothing: what a busy machine makes of a race now and then. */
export const gaveWay = ({ status, text }: { status: number; text: string }): boolean =>
  status === 503 && text.includes('Others are changing the same thing');
