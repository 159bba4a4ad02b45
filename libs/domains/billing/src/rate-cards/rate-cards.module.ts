import { Module } from '@nestjs/common';
import { RateCards } from './rate-cards';
import { RateCardsRepository } from './rate-cards.repository';

/** What calls cost in credits, for whoever makes them. */
@Module({ providers: [RateCards, RateCardsRepository], exports: [RateCards, RateCardsRepository] })
export class RateCardsModule {}
