import { SmtpServer, sql, type Chance } from '@aps/platform/testing';
import {
  ApiClient,
  Cutter,
  inflict,
  killed,
  SERVER_FAULTS,
  tableOf,
  timesOf,
  unnoted,
  type Fault,
  type Instance,
  type Platform,
} from '../../api-gateway-e2e/support';
import { People } from './people';
import type { RepliesVerdict } from './replies';
import { DOORS, openInbox, putRulesInForce, Senders, type OpenInbox, type Sending } from './senders';
import { verdictOf, type Verdict } from './verdict';

/** How much is sent, and what happens meanwhile. */
export interface Campaign {
  seed: number;
  messages: number;
  /** Senders that send at once. */
  width: number;
  /** Times that each thing happens, spread over the campaign in an order that the seed chooses. */
  faults: Record<FaultKind, number>;
}

type FaultKind = 'inbox_intake_killed' | 'chat_worker_killed' | 'redis_restarted' | 'redis_flushed' | 'postgres_restarted';

/** What a campaign came to. */
export interface Certificate extends Verdict, Partial<RepliesVerdict> {
  seed: number;
  faults: Record<FaultKind, number>;
  /** How often a message was sent, taken or not. */
  sent: number;
  /** Of these, those whose connection was cut before its answer was heard. */
  cut: number;
  /** How often something was stored, or found there, and nobody heard so. */
  unheard: number;
  /** Held messages that somebody released, and messages that somebody terminated. */
  released: number;
  terminated: number;
  /** Of these, those that had been handed to an agent. */
  terminated_with_a_chat: number;
  /** Answers of models that were recorded, and those that were so twice for one evaluation. */
  classified: number;
  classified_twice: number;
  seconds: number;
}

const INTAKES = ['inbox-intake', 'inbox-intake:b'] as const;
export const CAMPAIGN_APPS = ['api-gateway', 'chat-worker', ...INTAKES] as const satisfies Instance[];

/** Longest rest: that of a mail whose worker dies, tried again after 5, 10, 20, 40 and 80 s; and the turns that have piled up. */
const REST_MS = 240_000;
const REST_MS_EACH = 100;
/** Of ten messages so many are sent twice, are held, are terminated, and lose their connection first. */
const TWICE_OF_TEN = 3;
const HELD_OF_TEN = 1;
const TERMINATED_OF_TEN = 1;
const CUT_OF_TEN = 2;

/**
 * Runs a campaign against a platform that has servers of its own.
 *
 * @param outside where the platform mails to
 */
export async function certify(
  platform: Platform,
  outside: SmtpServer,
  chance: Chance,
  { seed, messages, width, faults }: Campaign,
): Promise<Certificate> {
  const began = performance.now();
  const inbox = await openInbox(platform, 'certificate', { reply: 'auto', reply_delay_s: 2 });
  await putRulesInForce(platform, inbox, RULES);
  const smtpPorts = INTAKES.map((intake) => platform.app(intake).smtpPort);
  const cutters = await Promise.all([Number(new URL(platform.url).port), ...smtpPorts].map((port) => Cutter.before(port, chance)));
  const [http, ...smtp] = cutters.map(({ port }) => port);
  const lossy = { http: new ApiClient(`http://127.0.0.1:${http}`, platform.demo), smtpPorts: smtp };
  const senders = new Senders(platform, inbox, { http: platform, smtpPorts }, lossy);
  const people = new People(platform, inbox, chance);
  try {
    const all = Array.from({ length: messages }, (_, i) => aSending(chance, i));
    const deck = chance.shuffled([...all, ...all.filter(() => chance.between(1, 10) <= TWICE_OF_TEN)]);
    const seen: Promise<void>[] = [];
    const share = () => senders.taken.size / messages;
    const sending = senders.allTaken(deck, width, (message, id) => seen.push(people.see(message, id)));
    await inflict(chance, faults, (kind) => FAULTS[kind](platform, chance, unnoted), share, sending);
    await Promise.all(seen);
  } finally {
    for (const cutter of cutters) cutter.close();
  }
  const { released, terminated } = people;
  const withChat = [...terminated.values()].filter(({ chat }) => chat !== null).length;
  const known = { terminated, received: outside.mails, restMs: REST_MS + messages * REST_MS_EACH };
  const verdict = await verdictOf(platform, senders, known);
  const { found, ...classified } = await evaluatedOf(platform, inbox);
  return {
    ...{ seed, faults, sent: senders.sent, cut: cutters.reduce((sum, { cut }) => sum + cut, 0), unheard: found - senders.heard },
    ...{ ...verdict, released, terminated: terminated.size, terminated_with_a_chat: withChat, ...classified },
    seconds: Math.round((performance.now() - began) / 1000),
  };
}

function aSending(chance: Chance, i: number): Sending {
  const ofTen = chance.between(1, 10);
  const fate = ofTen <= HELD_OF_TEN ? 'held' : ofTen <= HELD_OF_TEN + TERMINATED_OF_TEN ? 'terminated' : undefined;
  return { key: `message-${i}`, door: chance.choose(DOORS), fate, isCut: chance.between(1, 10) <= CUT_OF_TEN };
}

/** A model is asked about each message, so that an evaluation is two steps and can be cut off between them. */
const RULES = {
  stages: [
    {
      ...{ id: 'triage', kind: 'classifier', instruction: 'What is it?' },
      labels: [
        { label: 'order', action: 'accept' },
        { label: 'unclear', action: 'hold' },
      ],
      // A provider is never away here.
      on_error: 'quarantine',
    },
  ],
};

const EVALUATED = sql<{ found: number; classified: number; classified_twice: number }>(`
  SELECT coalesce(sum(n), 0)::int AS classified, count(*) FILTER (WHERE n > 1)::int AS classified_twice,
    (SELECT sum(1 + duplicates)::int FROM inbox_messages WHERE inbox_id = $1) AS found
  FROM (
    SELECT count(*) AS n FROM inbox_messages m JOIN inbox_traces t ON t.message_id = m.id CROSS JOIN jsonb_array_elements(t.rows) r
    WHERE m.inbox_id = $1 AND r->>'kind' = 'classifier' GROUP BY m.id, t.evaluation_no) x`);

/** Answers of models, and how often what came was stored, or found there. */
async function evaluatedOf(platform: Platform, { id }: OpenInbox) {
  const [row] = await platform.database((db) => db.query(EVALUATED, [id]));
  return row;
}

const FAULTS: Record<FaultKind, Fault> = {
  ...SERVER_FAULTS,
  inbox_intake_killed: killed(...INTAKES),
  chat_worker_killed: killed('chat-worker'),
};

/** The certificate as Markdown. */
export const asTable = ({ faults, waiting: _waiting, ...figures }: Certificate): string =>
  tableOf('Messages of inboxes', { ...figures, ...timesOf(faults) });
