import { Injectable, Optional } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { Rollout } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { ViewCache } from '@aps/platform/cache';
import { Database, OneByOne, OrgTable } from '@aps/platform/database';
import { ArmChats, OUTCOMES, type ChatDecisions, type CountedChat, type Outcome } from './arm-chats';
import { compare, type Compared, type FigureKind } from './compared';
import { rolloutsConfig } from './rollouts.config';
import { disputesOf, sampleOf } from './samples.policy';
import { sampleRatio, type Sample, type SampleRatio } from './statistics';

const REMEMBERED_MS = 45_000;
const REMEMBERED = 500;
/** What has failed has mostly taken long, and others have waited for it. */
const FAILED_MS = 15_000;

type BillingUnit = 'credits' | 'usd';

/** What has come of an arm. */
export interface ArmResults {
  label: string;
  is_control: boolean;
  chats: number;
  units: number;
  outcomes: Record<Outcome, Compared & { count: number }>;
  metrics: Record<Metric, Compared>;
  decisions: { recorded: number; reviewed: number; disputed: number; dispute_rate: Compared };
}

export interface RolloutResults {
  rollout_id: string;
  billing_unit: BillingUnit;
  insufficient_data: boolean;
  computed_at: Date;
  srm: SampleRatio | null;
  arms: ArmResults[];
}

/** Figures of a chat; null is none. */
const METRICS = {
  cost: { kind: 'skewed', of: (chat, unit) => (unit === 'usd' ? chat.cost_usd : chat.cost_credits) },
  tokens: { kind: 'skewed', of: (chat) => chat.tokens },
  tool_call_rate: { kind: 'mean', of: (chat) => (chat.turns ? chat.tool_calls / chat.turns : null) },
  hitl_rate: { kind: 'share', of: (chat) => Number(chat.asked) },
  duration_s: { kind: 'mean', of: (chat) => (chat.turns ? chat.seconds : null) },
} satisfies Record<string, { kind: FigureKind; of: (chat: CountedChat, unit: BillingUnit) => number | string | null }>;
type Metric = keyof typeof METRICS;

/** Computes what rollouts have shown, and remembers it for a while. */
@Injectable()
export class RolloutResultsService {
  private readonly rollouts = new OrgTable(Rollout, 'Rollout');
  /** By organization, rollout, its status and the unit of costs: what has ended is computed anew. */
  private readonly known = new ViewCache<string, RolloutResults>(
    REMEMBERED_MS,
    REMEMBERED,
    (key) => {
      const [orgId, id, , unit] = key.split(' ');
      const compute = () => this.compute(OrgScope.system(orgId, 'rollout results'), id, unit as BillingUnit);
      return this.ofOrgs.run(orgId, () => this.ofAll.run('', compute));
    },
    FAILED_MS,
  );
  /** Of all that is computed in this process one at a time; an organization that asks for many waits for itself, and has others wait for one. */
  private readonly ofAll = new OneByOne();
  private readonly ofOrgs = new OneByOne();

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly entitlements: Entitlements,
    @Optional() private readonly chats?: ArmChats,
  ) {}

  /** @throws DomainError `not_found` */
  async of(scope: OrgScope, agentRef: string, id: string): Promise<RolloutResults> {
    const agent_id = await this.agents.idOf(scope, agentRef);
    const { status } = await this.rollouts.get(this.db, scope, { agent_id, id });
    const unit: BillingUnit = (await this.entitlements.has(scope.orgId, 'enforces_credits')) ? 'credits' : 'usd';
    return this.known.get(`${scope.orgId} ${id} ${status} ${unit}`);
  }

  private async compute(scope: OrgScope, id: string, billing_unit: BillingUnit): Promise<RolloutResults> {
    const rollout = await this.rollouts.get(this.db, scope, id);
    const { chats } = this;
    // One after the other: together they take no more of the pool than one request.
    const counted = (await chats?.counted(this.db, scope, rollout, rolloutsConfig.value.idle_minutes)) ?? [];
    const assigned = (await chats?.assigned(this.db, scope, rollout)) ?? [];
    const decided = (await chats?.decisions(this.db, scope, rollout)) ?? [];
    // A deployment has one arm, and its chats carry no label.
    const isOf = (label: string) => (row: { arm_label: string | null }) => rollout.kind === 'deploy' || row.arm_label === label;
    const arms = rollout.arms.map(({ label }) => {
      const units = assigned.filter(isOf(label)).reduce((sum, row) => sum + row.units, 0);
      return { label, units, chats: counted.filter(isOf(label)), decisions: decided.filter(isOf(label)) };
    });
    const minSample = rollout.min_sample ?? rolloutsConfig.value.min_sample;
    const control = rollout.kind === 'deploy' ? null : rollout.arms.findIndex(({ label }) => label === rollout.control);
    const figure = (name: string, kind: FigureKind, samples: Sample[]) =>
      compare(samples, { kind, control, minSample, seed: `${id}/${name}` });
    const ofChats = (name: string, kind: FigureKind, of: (chat: CountedChat) => number | string | null) =>
      figure(
        name,
        kind,
        arms.map((arm) => sampleOf(arm.chats, of, rollout.unit)),
      );

    const outcomes = new Map<Outcome, Compared[]>();
    for (const outcome of OUTCOMES) outcomes.set(outcome, await ofChats(outcome, 'share', (chat) => Number(chat.outcome === outcome)));
    const metrics = new Map<Metric, Compared[]>();
    for (const [name, { kind, of }] of Object.entries(METRICS))
      metrics.set(name as Metric, await ofChats(name, kind, (chat) => of(chat, billing_unit)));
    const disputes = await figure(
      'dispute_rate',
      'share',
      arms.map((arm) => disputesOf(arm.decisions, rollout.unit)),
    );
    const sum = (rows: readonly ChatDecisions[], field: 'recorded' | 'reviewed' | 'disputed') =>
      rows.reduce((total, row) => total + row[field], 0);
    return {
      rollout_id: id,
      billing_unit,
      insufficient_data: arms.some((arm) => arm.chats.length < minSample),
      computed_at: this.db.now(),
      srm:
        control === null
          ? null
          : sampleRatio(
              arms.map(({ units }) => units),
              rollout.arms.map(({ weight }) => weight),
            ),
      arms: arms.map((arm, i) => ({
        label: arm.label,
        is_control: i === control,
        chats: arm.chats.length,
        units: arm.units,
        outcomes: Object.fromEntries(
          OUTCOMES.map((outcome) => [
            outcome,
            { count: arm.chats.filter((chat) => chat.outcome === outcome).length, ...outcomes.get(outcome)![i] },
          ]),
        ) as ArmResults['outcomes'],
        metrics: Object.fromEntries([...metrics].map(([name, all]) => [name, all[i]])) as ArmResults['metrics'],
        decisions: {
          recorded: sum(arm.decisions, 'recorded'),
          reviewed: sum(arm.decisions, 'reviewed'),
          disputed: sum(arm.decisions, 'disputed'),
          dispute_rate: disputes[i],
        },
      })),
    };
  }
}
