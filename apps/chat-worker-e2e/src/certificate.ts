import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '@aps/platform/testing';
import {
  accepted,
  creditsOf,
  ended,
  frozen,
  inflict,
  killed,
  namesOf,
  payInCredits,
  persist,
  recoveryTable,
  requireAlive,
  script,
  SERVER_FAULTS,
  tableOf,
  type CreditsVerdict,
  type Fault,
  type Platform,
  type Recovery,
} from '../../api-gateway-e2e/support';
import type { Ledger } from '@aps/tools/testing';
import { Journal, type Acknowledged } from './certificate-journal';

/** How much is done, and what is done to it. */
export interface Campaign {
  seed: number;
  messages: number;
  /** Runs of the second kind. */
  counts: number;
  /** Chats that are talked to at once. */
  width: number;
  /** Times that each thing happens, spread over the campaign in an order that the seed chooses. */
  faults: Record<FaultKind, number>;
}

export type FaultKind =
  'worker_killed' | 'worker_ended' | 'worker_frozen' | 'gateway_killed' | 'redis_restarted' | 'redis_flushed' | 'postgres_restarted';

/** What a campaign came to. */
export interface Certificate extends CreditsVerdict {
  seed: number;
  faults: Record<FaultKind, number>;
  /** Messages that were answered with 202. */
  acknowledged: number;
  /** Final answers that they got. */
  replies: number;
  /** Messages whose turn a user stopped. */
  stopped: number;
  /** Messages that are gone, or whose turn is over without an answer and without a stop. */
  lost: number;
  /** Messages that are there twice, and turns with more than one final answer. */
  duplicated: number;
  side_effects: number;
  side_effects_twice: number;
  /** Calls whose result says that they were done, while their effect is not there. */
  side_effects_missing: number;
  /** Calls to another side, whose effects cannot be ours. */
  calls_out: number;
  /** Whose effect is there twice, or that may not be repeated and were. */
  calls_out_twice: number;
  /** Whose result says that they were done, while the other side knows of nothing. */
  calls_out_missing: number;
  /** Of which the model was told that nobody knows. */
  calls_out_unknown: number;
  /** That reached the other side, or were made, and came to neither a result nor that word. */
  calls_out_unsaid: number;
  /** Runs of the second kind, each of which says some numbers. */
  counts: number;
  /** Of those, the ones that are not over, or have not said each of their numbers once. */
  counts_wrong: number;
  /** Chats that did not come to rest. */
  stuck: number;
  /** Runs that a fault hit and that nobody went on with. */
  runs_that_never_went_on: number;
  /** Seconds from a fault until a run that it hit went on; where a worker was ended, from when it let go of the run. */
  recovery_s: Partial<Record<FaultKind, Recovery>>;
  seconds: number;
}

/** Longest rest that anything may need: a lease of 20 s, a second one, and what comes after. */
const REST_MS = 120_000;
const WORKERS = ['chat-worker', 'chat-worker:b'] as const;
export const CAMPAIGN_APPS = ['api-gateway', 'admin-api', ...WORKERS] as const;

const words = (n: number): string => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');

interface Plan {
  messages: string[];
  /** So many ms after the first message the chat is stopped. */
  stopAfterMs?: number;
}

/** A call whose effect is to be there once. */
const effect = () => ({ name: 'memory_write', arguments: { content: `effect ${randomUUID()}` } });

/** The agent that others delegate to. */
const HELPER = 'certificate-helper';

/** The kinds of work, with their shares. Side effects are memories: each names what it must be there for, once. */
const KINDS: { share: number; plan: (chance: Chance) => Plan }[] = [
  { share: 6, plan: () => ({ messages: ['hello'] }) },
  {
    share: 2,
    plan: (chance) => {
      const task = () =>
        script({ tool_calls: [effect()], delay_ms: chance.between(0, 300) }, { text: words(4), chunk_delay_ms: chance.between(10, 200) });
      return {
        messages: [
          script(
            { tool_calls: [task(), task()].map((text) => ({ name: 'delegate_to_agent', arguments: { agent: HELPER, task: text } })) },
            { text: 'both are back' },
          ),
        ],
      };
    },
  },
  {
    share: 5,
    plan: (chance) => {
      const call = () => ({ tool_calls: [effect()], delay_ms: chance.between(0, 300) });
      return { messages: [script(call(), call(), { text: words(5), chunk_delay_ms: chance.between(10, 80) })] };
    },
  },
  {
    share: 2,
    plan: (chance) => ({
      messages: [script({ tool_calls: [{ name: 'wait_until', arguments: { for_s: chance.between(1, 3) } }] }, { text: 'awake' })],
    }),
  },
  { share: 3, plan: (chance) => ({ messages: [script({ text: words(8), chunk_delay_ms: chance.between(30, 150) }), 'and then?'] }) },
  {
    share: 3,
    plan: (chance) => {
      const booking = (tool: string) => ({ name: `con_books_${tool}`, arguments: { memo: `booking ${randomUUID()}` } });
      return {
        messages: [
          script(
            { tool_calls: [booking('once'), booking('by_key'), booking('once')], delay_ms: chance.between(0, 300) },
            { text: 'booked' },
          ),
        ],
      };
    },
  },
  {
    share: 2,
    plan: (chance) => ({
      messages: [script({ text: words(30), chunk_delay_ms: 100 }), 'still there?'],
      stopAfterMs: chance.between(0, 2_500),
    }),
  },
];
const DECK = KINDS.flatMap(({ share, plan }) => Array.from({ length: share }, () => plan));

/** Runs a campaign against a platform that has servers of its own. */
export function certify(platform: Platform, chance: Chance, campaign: Campaign, ledger: Ledger): Promise<Certificate> {
  // The call has arrived, and its effect comes later: a worker may die before, and after.
  ledger.behave = () => sleep(chance.between(0, 400)).then(() => 'answer' as const);
  return platform.database((db) => run(platform, chance, campaign, new Journal(db, platform.demo.org_id), ledger));
}

async function run(platform: Platform, chance: Chance, campaign: Campaign, journal: Journal, ledger: Ledger): Promise<Certificate> {
  const began = performance.now();
  await furnish(platform);
  await payInCredits(platform);
  const acknowledged: Acknowledged[] = [];
  let sent = 0;
  let counts = 0;
  const client = async () => {
    while (sent < campaign.messages) {
      const plan = chance.choose(DECK)(chance);
      sent += plan.messages.length;
      for (; counts < (sent / campaign.messages) * campaign.counts; counts++) await journal.startCount(chance);
      await work(platform, journal, plan, acknowledged);
    }
  };
  try {
    const clients = Promise.all(Array.from({ length: campaign.width }, client));
    const share = () => {
      requireAlive(platform, WORKERS);
      return acknowledged.length / campaign.messages;
    };
    await inflict(chance, campaign.faults, (kind) => FAULTS[kind](platform, chance, (owner) => journal.hit(kind, owner)), share, clients);
    requireAlive(platform, WORKERS);
    await journal.settle(REST_MS);
    return {
      seed: campaign.seed,
      faults: campaign.faults,
      counts,
      ...(await journal.verdict(acknowledged, ledger)),
      ...(await creditsOf(platform)),
      seconds: Math.round((performance.now() - began) / 1000),
    };
  } finally {
    await journal.close();
  }
}

/** Lets the demo's agent delegate to another one, and book. */
async function furnish(platform: Platform): Promise<void> {
  const { org_id: org, agent_id: agent } = platform.demo;
  const made = await platform.call('POST', `/api/orgs/${org}/agents`, { body: { name: 'Helper', slug: HELPER, memory_enabled: true } });
  await platform.call('PATCH', `/api/orgs/${org}/agents/${agent}?deploy=true`, {
    body: { child_agent_ids: [made.body.id], allowed_tools: ['*', 'con:books'] },
  });
}

/** One chat from its first message until it is at rest. */
async function work(platform: Platform, journal: Journal, plan: Plan, acknowledged: Acknowledged[]): Promise<void> {
  const chat = await persist(() =>
    platform
      .call('POST', platform.chatsPath(), { body: { title: 'Certificate' }, headers: { 'Idempotency-Key': randomUUID() } })
      .then(accepted),
  );
  const chatId = chat.id as string;
  for (const [i, content] of plan.messages.entries()) {
    const { message_id } = await platform.say(chatId, content);
    const mayStop = plan.stopAfterMs !== undefined && i === 0;
    acknowledged.push({ chat: chatId, message: message_id as string, mayStop });
    if (!mayStop) continue;
    await sleep(plan.stopAfterMs);
    await persist(() => platform.call('POST', `${platform.chatsPath()}/${chatId}/stop`).then(accepted));
  }
  await journal.atRest(chatId, REST_MS);
}

const FAULTS: Record<FaultKind, Fault> = {
  ...SERVER_FAULTS,
  worker_killed: killed(...WORKERS),
  worker_ended: ended(...WORKERS),
  worker_frozen: frozen(...WORKERS),
  gateway_killed: killed('api-gateway'),
};

/** The certificate as Markdown. */
export function asTable({ faults, recovery_s: recovery, credits_broken: broken, ...figures }: Certificate): string {
  const table = tableOf('Crash certificate', { ...figures, 'invariants of credits that are broken': namesOf(broken) });
  return [table, '', ...recoveryTable(faults, recovery)].join('\n');
}
