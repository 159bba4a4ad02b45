import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { WaitlistEntryResponse, WaitlistQuery } from '@aps/dtos';
import { type ActingUser, PlatformAdmin } from '@aps/guards';
import { WaitlistService } from '@aps/identity';
import { ApiPage, toPage, type Page } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { toWaitlistEntry } from './admins.convert';
import { CurrentOperator } from './current-operator';

@ApiTags('Administration: people')
@Controller('/api/admin/waitlist')
export class AdminWaitlistController {
  constructor(private readonly waitlist: WaitlistService) {}

  @Get()
  @PlatformAdmin()
  @ApiOperation({ summary: 'List who asked for access, most recently asked first' })
  @ApiPage(WaitlistEntryResponse, 'WaitlistListResponse')
  async list(@Query() query: WaitlistQuery): Promise<Page<WaitlistEntryResponse>> {
    const { items, total } = await this.waitlist.list(query);
    return toPage(items.map(toWaitlistEntry), total, query);
  }

  @Post(':waitlist_id/dismiss')
  @HttpCode(200)
  @PlatformAdmin()
  @ApiOperation({ summary: 'Put a pending request aside', description: 'The row is kept; asking again makes it pending.' })
  @ApiOkResponse({ type: WaitlistEntryResponse })
  async dismiss(@CurrentOperator() operator: ActingUser, @Param('waitlist_id') waitlistId: string): Promise<WaitlistEntryResponse> {
    return toWaitlistEntry(await this.waitlist.dismiss(operator, waitlistId));
  }

  @Post(':waitlist_id/invite')
  @HttpCode(200)
  @PlatformAdmin()
  @Idempotent()
  @ApiOperation({ summary: 'Let somebody in and mail it to them', description: 'Somebody who is in already gets no second mail.' })
  @ApiOkResponse({ type: WaitlistEntryResponse })
  async invite(@CurrentOperator() operator: ActingUser, @Param('waitlist_id') waitlistId: string): Promise<WaitlistEntryResponse> {
    return toWaitlistEntry(await this.waitlist.invite(operator, waitlistId));
  }

  @Post(':waitlist_id/resend')
  @HttpCode(200)
  @PlatformAdmin()
  @Idempotent()
  @ApiOperation({ summary: 'Mail the admission again', description: 'Refused when it was never granted.' })
  @ApiOkResponse({ type: WaitlistEntryResponse })
  async resend(@CurrentOperator() operator: ActingUser, @Param('waitlist_id') waitlistId: string): Promise<WaitlistEntryResponse> {
    return toWaitlistEntry(await this.waitlist.resend(operator, waitlistId));
  }
}
