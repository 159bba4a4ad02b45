import { Injectable } from '@nestjs/common';
import { ViewCache } from '@aps/platform/cache';
import { Database } from '@aps/platform/database';
import type { Card } from './rate-card.policy';
import { RateCardsRepository } from './rate-cards.repository';

/** How long what was read is believed: a card that is published charges after it, in every process. */
const TTL_MS = 1_000;

/** The rate card in force, held in memory. */
@Injectable()
export class RateCards {
  private readonly cards: ViewCache<'cards', Card[]>;

  constructor(
    private readonly db: Database,
    repository: RateCardsRepository,
  ) {
    this.cards = new ViewCache(TTL_MS, 1, () => repository.charging(this.db));
  }

  /** Begins at midnight UTC of its day. Null where none has begun. */
  async current(): Promise<Card | null> {
    const today = this.db.now().toISOString().slice(0, 10);
    return (await this.cards.get('cards')).find(({ effective_from }) => effective_from <= today) ?? null;
  }

  /** Reads anew what was published here. */
  drop(): void {
    this.cards.clear();
  }
}
