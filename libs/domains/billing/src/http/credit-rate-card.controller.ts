import { Body, Controller, Get, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreditRateCardResponse, PublishRateCardRequest, SetDisplayFxRequest } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { RateCardsService } from '../rate-cards/rate-cards.service';

@ApiTags('Administration: billing')
@Controller('/api/admin')
@PlatformAdmin()
export class AdminCreditRateCardController {
  constructor(private readonly rateCards: RateCardsService) {}

  @Get('credit-rate-card')
  @Operation({
    summary: 'Get the rate card',
    description: 'Every version, the newest first, and what credits have brought in beside what they cost.',
    answers: CreditRateCardResponse,
  })
  async get() {
    return answer(CreditRateCardResponse, await this.rateCards.get());
  }

  @Post('credit-rate-card')
  @Operation({
    summary: 'Publish a version of the rate card',
    description:
      'It begins at midnight UTC of its day. One that has begun never changes; one of the same day that has not is replaced. Publishing the same again changes nothing.',
    status: 200,
    answers: CreditRateCardResponse,
    refuses: ['rate_card_date', 'rate_card_not_next'],
  })
  async publish(@CurrentOperator() operator: ActingUser, @Body() body: PublishRateCardRequest) {
    return answer(CreditRateCardResponse, await this.rateCards.publish(operator, body));
  }

  @Put('credit-display-fx')
  @Operation({
    summary: 'Set the rates by which amounts are shown',
    description: 'They replace those before. Nothing is charged by them.',
    answers: CreditRateCardResponse,
  })
  async setDisplayFx(@CurrentOperator() operator: ActingUser, @Body() body: SetDisplayFxRequest) {
    return answer(CreditRateCardResponse, await this.rateCards.setDisplayFx(operator, body.rates));
  }
}
