import { sql } from '@aps/platform/testing';

const ENDS = ['completed', 'flagged', 'failed', 'cancelled'];
const RUN_MOVES = new Set([
  ...['queued>running', 'running>waiting_human', 'waiting_human>running', 'queued>cancelled'],
  ...ENDS.flatMap((end) => [`running>${end}`, `waiting_human>${end}`]),
]);
const STEP_MOVES = new Set([
  ...['completed', 'failed', 'cancelled', 'outcome_unknown'].map((to) => `running>${to}`),
  ...['completed', 'failed', 'skipped', 'cancelled', 'running'].map((to) => `waiting>${to}`),
  ...['completed', 'failed', 'cancelled'].map((to) => `outcome_unknown>${to}`),
]);

export interface Move {
  what: 'run' | 'step';
  move: string;
  n: number;
}

export const isMove = ({ what, move }: Move): boolean => (what === 'run' ? RUN_MOVES : STEP_MOVES).has(move);

/** Has the database note each change of what a run or a step is, and when it was made by its own clock. */
export const NOTE_MOVES = [
  'CREATE TABLE moves (what text NOT NULL, id text NOT NULL, move text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())',
  `CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_TABLE_NAME = 'process_runs' THEN INSERT INTO moves VALUES ('run', NEW.id, OLD.state || '>' || NEW.state);
    ELSE INSERT INTO moves VALUES ('step', NEW.id, OLD.status || '>' || NEW.status); END IF;
    RETURN NULL; END $$`,
  `CREATE TRIGGER note_run AFTER UPDATE ON process_runs FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION note_move()`,
  `CREATE TRIGGER note_step AFTER UPDATE ON process_steps FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note_move()`,
];

export const MOVES = sql<Move>('SELECT what, move, count(*)::int AS n FROM moves GROUP BY what, move ORDER BY what, move');
