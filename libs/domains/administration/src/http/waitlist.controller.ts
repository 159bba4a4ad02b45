import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { WaitlistEntryResponse, WaitlistQuery } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { WaitlistService } from '@aps/identity';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { toWaitlistEntry } from './administration.convert';

@ApiTags('Administration: people')
@Controller('/api/admin/waitlist')
@PlatformAdmin()
export class AdminWaitlistController {
  constructor(private readonly waitlist: WaitlistService) {}

  @Get()
  @Operation({
    summary: 'List who asked for access, most recently asked first',
    answers: PageOf(WaitlistEntryResponse, 'WaitlistListResponse'),
  })
  async list(@Query() query: WaitlistQuery) {
    return toPage(await this.waitlist.list(query), query, toWaitlistEntry);
  }

  @Post(':waitlist_id/dismiss')
  @Operation({
    summary: 'Put a pending request aside',
    description: 'The row is kept; asking again makes it pending.',
    status: 200,
    answers: WaitlistEntryResponse,
    refuses: ['not_pending'],
  })
  async dismiss(@CurrentOperator() operator: ActingUser, @Param('waitlist_id') waitlistId: string) {
    return toWaitlistEntry(await this.waitlist.dismiss(operator, waitlistId));
  }

  @Post(':waitlist_id/invite')
  @Idempotent()
  @Operation({
    summary: 'Let somebody in and mail it to them',
    description: 'Somebody who is in already gets no second mail.',
    status: 200,
    answers: WaitlistEntryResponse,
  })
  async invite(@CurrentOperator() operator: ActingUser, @Param('waitlist_id') waitlistId: string) {
    return toWaitlistEntry(await this.waitlist.invite(operator, waitlistId));
  }

  @Post(':waitlist_id/resend')
  @Idempotent()
  @Operation({
    summary: 'Mail the admission again',
    description: 'Refused when it was never granted.',
    status: 200,
    answers: WaitlistEntryResponse,
    refuses: ['never_admitted'],
  })
  async resend(@CurrentOperator() operator: ActingUser, @Param('waitlist_id') waitlistId: string) {
    return toWaitlistEntry(await this.waitlist.resend(operator, waitlistId));
  }
}
