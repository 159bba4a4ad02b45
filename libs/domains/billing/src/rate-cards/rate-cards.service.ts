import { Injectable } from '@nestjs/common';
import { type Problem, refuseField, requireValid } from '@aps/contracts';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, changesOf, Database } from '@aps/platform/database';
import { Money, text } from '../money';
import type { Card } from './rate-card.policy';
import { RateCards } from './rate-cards';
import { RateCardsRepository, type Burned } from './rate-cards.repository';
import { rulesOf } from './rules.policy';

const MARGIN_DAYS = 30;
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));
const RATE = /^\d{1,14}(\.\d{1,6})?$/;

/** A card as it is sent. */
export type Publishing = Omit<Card, 'rules'> & { rules?: Record<string, unknown>[] };

export interface PublishedCard extends Card {
  status: 'past' | 'current' | 'future';
}

/** What credits have brought in, beside what they have cost. */
export interface Margin extends Burned {
  window_days: number;
  /** The credits, by the card in force; null without one. */
  usd_value: string | null;
  /** Of value and cost; null where nothing was spent. */
  ratio: string | null;
}

export interface RateCardView {
  versions: PublishedCard[];
  current_version: number | null;
  margin: Margin;
  display_fx: Record<string, string>;
}

/** What calls cost in credits: published by operators, and never changed once it has begun. */
@Injectable()
export class RateCardsService {
  constructor(
    private readonly db: Database,
    private readonly repository: RateCardsRepository,
    private readonly cards: RateCards,
    private readonly audit: Audit,
  ) {}

  async get(): Promise<RateCardView> {
    const [versions, today, burned, display_fx] = await Promise.all([
      this.repository.versions(this.db),
      this.repository.today(this.db),
      this.repository.burned(this.db, MARGIN_DAYS),
      this.repository.displayFx(this.db),
    ]);
    const current = versions.find(({ effective_from }) => effective_from <= today);
    const statusOf = (card: Card) => (card === current ? 'current' : card.effective_from <= today ? 'past' : 'future');
    return {
      versions: versions.map((card) => ({ ...card, status: statusOf(card) })),
      current_version: current?.version ?? null,
      margin: marginOf(burned, current),
      display_fx,
    };
  }

  /**
   * Appends a version, or replaces the one of the same day that has not begun. What is published already is published once.
   *
   * @throws DomainError 422 `validation_error`, `rate_card_date`, `rate_card_not_next`
   */
  async publish(operator: ActingUser, { rules = [], ...sent }: Publishing): Promise<RateCardView> {
    const card: Card = { ...sent, credits_per_usd: text(new Money(sent.credits_per_usd)), rules: rulesOf(rules) };
    await this.db.transaction(operator, async (tx) => {
      await advisoryLock(tx, 'rate card');
      const versions = await this.repository.versions(tx);
      const before = versions.find(({ effective_from }) => effective_from === card.effective_from);
      if (before && !Object.keys(changesOf(before, card)).length) return;
      const replaces = assertFits(card, versions, await this.repository.today(tx));
      if (replaces) await this.repository.replace(tx, card, operator.userId);
      else await this.repository.append(tx, card, operator.userId);
      const { version, ...facts } = card;
      const action = replaces ? 'rate_card.replaced' : 'rate_card.published';
      await this.audit.record(tx, operator, action, String(version), { ...facts });
      tx.afterCommit(() => this.cards.drop());
    });
    return this.get();
  }

  /**
   * Replaces the rates by which amounts are shown in other currencies. Nothing is charged by them.
   *
   * @throws DomainError 422 `validation_error`
   */
  async setDisplayFx(operator: ActingUser, sent: Record<string, unknown>): Promise<RateCardView> {
    const rates = ratesOf(sent);
    await this.db.transaction(operator, async (tx) => {
      await advisoryLock(tx, 'display rates');
      const before = await this.repository.displayFx(tx);
      if (!Object.keys(changesOf({ rates: before }, { rates })).length) return;
      await this.repository.setDisplayFx(tx, rates, operator.userId);
      await this.audit.record(tx, operator, 'credit_display_fx.updated', { kind: 'platform', id: null }, { before, after: rates });
    });
    return this.get();
  }
}

/**
 * Days rise with versions, and no version begins in the past or changes once it has begun.
 *
 * @param versions the newest first
 * @returns whether it takes the place of one that has not begun
 */
function assertFits(card: Card, versions: readonly Card[], today: string): boolean {
  const refuseDay = (msg: string) => refuseField('rate_card_date', ['effective_from'], msg);
  if (card.effective_from < today) throw refuseDay('A rate card begins today, in UTC, or later.');
  const replaced = versions.find(({ effective_from }) => effective_from === card.effective_from);
  if (replaced && replaced.effective_from <= today) throw refuseDay('The version of this day has begun, and stays as it is.');
  const expected = replaced?.version ?? (versions[0]?.version ?? 0) + 1;
  if (card.version !== expected)
    throw refuseField('rate_card_not_next', ['version'], `This would be version ${expected}.`, { expected_version: expected });
  if (!replaced && versions[0] && card.effective_from < versions[0].effective_from)
    throw refuseDay(`Version ${versions[0].version} begins later: days rise with versions.`);
  return replaced !== undefined;
}

function marginOf(burned: Burned, card: Card | undefined): Margin {
  const value = card && new Money(burned.credits).div(card.credits_per_usd);
  const cost = new Money(burned.usd_cost);
  return {
    window_days: MARGIN_DAYS,
    ...burned,
    usd_value: value ? text(value) : null,
    ratio: value && !cost.isZero() ? text(value.div(cost)) : null,
  };
}

function ratesOf(sent: Record<string, unknown>): Record<string, string> {
  const problems: Problem[] = [];
  const refuse = (code: string, msg: string) => problems.push({ loc: ['body', 'rates', code.slice(0, 64)], msg, type: 'value_error' });
  const entries = Object.entries(sent).map(([code, value]): [string, string] => {
    const written = typeof value === 'number' ? String(value) : value;
    if (!CURRENCIES.has(code)) refuse(code, 'Name should be a currency of ISO 4217');
    else if (typeof written !== 'string' || !RATE.test(written) || Number(written) <= 0)
      refuse(code, 'Input should be a decimal greater than 0 with at most 6 digits after the point');
    else return [code, text(new Money(written))];
    return [code, ''];
  });
  requireValid(problems);
  return Object.fromEntries(entries.sort());
}
