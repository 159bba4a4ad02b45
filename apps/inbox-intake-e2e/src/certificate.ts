import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '@aps/platform/testing';
import { redisCommand, type Instance, type Platform } from '../../api-gateway-e2e/support';
import { inflict, type Chance } from '../../chat-worker-e2e/src/scenario';
import { DOORS, openInbox, putRulesInForce, Senders, type OpenInbox } from './senders';
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
export interface Certificate extends Verdict {
  seed: number;
  faults: Record<FaultKind, number>;
  /** How often a message was sent, taken or not. */
  sent: number;
  /** Answers of models that were recorded, and those that were so twice for one evaluation. */
  classified: number;
  classified_twice: number;
  seconds: number;
}

const INTAKES = ['inbox-intake', 'inbox-intake:b'] as const;
export const CAMPAIGN_APPS = ['api-gateway', 'chat-worker', ...INTAKES] as const satisfies Instance[];

/** Longest rest: a lease of 20 s, a second one, and what comes after; and the turns that have piled up. */
const REST_MS = 120_000;
const REST_MS_EACH = 100;
/** Of ten messages so many are sent twice. */
const TWICE_OF_TEN = 3;

/** Runs a campaign against a platform that has servers of its own. */
export async function certify(platform: Platform, chance: Chance, { seed, messages, width, faults }: Campaign): Promise<Certificate> {
  const began = performance.now();
  const inbox = await openInbox(platform, 'certificate');
  await putRulesInForce(platform, inbox, RULES);
  const senders = new Senders(
    platform,
    inbox,
    INTAKES.map((intake) => platform.app(intake).smtpPort),
  );
  const all = Array.from({ length: messages }, (_, i) => ({ key: `message-${i}`, door: chance.pick(DOORS) }));
  const deck = chance.shuffled([...all, ...all.filter(() => chance.between(1, 10) <= TWICE_OF_TEN)]);
  const share = () => senders.taken.size / messages;
  await Promise.all([senders.allTaken(deck, width), inflict(chance, faults, (kind) => FAULTS[kind](platform, chance), share)]);
  return {
    ...{ seed, faults, sent: senders.sent },
    ...(await verdictOf(platform, senders, REST_MS + messages * REST_MS_EACH)),
    ...(await classifiedOf(platform, inbox)),
    seconds: Math.round((performance.now() - began) / 1000),
  };
}

/** A model is asked about each message, so that an evaluation is two steps and can be cut off between them. */
const RULES = {
  stages: [
    {
      ...{ id: 'triage', kind: 'classifier', instruction: 'What is it?', labels: [{ label: 'order', action: 'accept' }] },
      // A provider is never away here.
      on_error: 'quarantine',
    },
  ],
};

const CLASSIFIED = sql<{ n: number; twice: number }>(`
  SELECT coalesce(sum(n), 0)::int AS n, count(*) FILTER (WHERE n > 1)::int AS twice FROM (
    SELECT count(*) AS n FROM inbox_messages m JOIN inbox_traces t ON t.message_id = m.id CROSS JOIN jsonb_array_elements(t.rows) r
    WHERE m.inbox_id = $1 AND r->>'kind' = 'classifier' GROUP BY m.id, t.evaluation_no) x`);

function classifiedOf(platform: Platform, { id }: OpenInbox): Promise<Pick<Certificate, 'classified' | 'classified_twice'>> {
  return platform.database(async (db) => {
    const [{ n, twice }] = await db.query(CLASSIFIED, [id]);
    return { classified: n, classified_twice: twice };
  });
}

const FAULTS: Record<FaultKind, (platform: Platform, chance: Chance) => Promise<unknown>> = {
  inbox_intake_killed: (platform, chance) => platform.restart(chance.pick(INTAKES)),
  chat_worker_killed: (platform) => platform.restart('chat-worker'),
  async redis_restarted(platform, chance) {
    await platform.redis!.kill();
    await sleep(chance.between(0, 1_000));
    await platform.redis!.restart();
  },
  redis_flushed: (platform) => redisCommand(platform.redis!.url, 'FLUSHALL'),
  async postgres_restarted(platform, chance) {
    await platform.postgres!.kill(chance.pick(['SIGKILL', 'SIGINT'] as const));
    await sleep(chance.between(0, 1_000));
    await platform.postgres!.restart();
  },
};

/** The certificate as Markdown. */
export function asTable({ faults, ...figures }: Certificate): string {
  const rows: [string, number][] = [
    ...Object.entries(figures).map(([name, value]): [string, number] => [name.replaceAll('_', ' '), value]),
    ...Object.entries(faults).map(([kind, n]): [string, number] => [`faults: ${kind.replaceAll('_', ' ')}`, n]),
  ];
  return ['| Messages of inboxes | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n');
}
