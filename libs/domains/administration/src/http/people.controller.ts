import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AddAllowedEmailRequest,
  AddPlatformAdminRequest,
  AllowedEmailResponse,
  PlatformAdminResponse,
  UserStatusResponse,
  WaitlistEntryResponse,
  WaitlistQuery,
} from '@aps/dtos';
import { CurrentOperator, PlatformAdmin, type ActingUser } from '@aps/guards';
import { AllowedEmailsService, PlatformAdminsService, UsersService, WaitlistService } from '@aps/identity';
import { answer, Operation, PageOf, toArray, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { toUserStatus } from './administration.convert';

@ApiTags('Administration: people')
@Controller('/api/admin/admins')
@PlatformAdmin()
export class PlatformAdminsController {
  constructor(private readonly admins: PlatformAdminsService) {}

  @Get()
  @Operation({ summary: 'List the platform administrators', answers: [PlatformAdminResponse] })
  async list() {
    return (await this.admins.list()).map((admin) => answer(PlatformAdminResponse, admin));
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Make a registered user a platform administrator',
    answers: PlatformAdminResponse,
    refuses: ['user_not_found', 'already_admin'],
  })
  async add(@CurrentOperator() operator: ActingUser, @Body() body: AddPlatformAdminRequest) {
    return answer(PlatformAdminResponse, await this.admins.add(operator, body.email));
  }

  @Delete(':user_id')
  @Operation({
    summary: 'Take the administration of the platform from a user',
    description: 'Not from yourself, and not from the last one who can act.',
    refuses: ['user_not_found', 'last_admin', 'self_action'],
  })
  async remove(@CurrentOperator() operator: ActingUser, @Param('user_id') userId: string) {
    await this.admins.remove(operator, userId);
  }
}

@ApiTags('Administration: people')
@Controller('/api/admin/allowed-emails')
@PlatformAdmin()
export class AllowedEmailsController {
  constructor(private readonly allowedEmails: AllowedEmailsService) {}

  @Get()
  @Operation({ summary: 'List the addresses that may sign up', answers: [AllowedEmailResponse] })
  async list() {
    return toArray(await this.allowedEmails.list(), (entry) => answer(AllowedEmailResponse, entry));
  }

  @Post()
  @Idempotent()
  @Operation({ summary: 'Let an address sign up', answers: AllowedEmailResponse, refuses: ['already_allowed'] })
  async add(@CurrentOperator() operator: ActingUser, @Body() body: AddAllowedEmailRequest) {
    return answer(AllowedEmailResponse, await this.allowedEmails.add(operator, body.email));
  }

  @Delete(':allowed_email_id')
  @Operation({ summary: 'Let an address sign up no longer', description: 'Whoever has signed up stays.' })
  async remove(@CurrentOperator() operator: ActingUser, @Param('allowed_email_id') allowedEmailId: string) {
    await this.allowedEmails.remove(operator, allowedEmailId);
  }
}

@ApiTags('Administration: people')
@Controller('/api/admin/users/:user_id')
@PlatformAdmin()
export class AdminUsersController {
  constructor(private readonly users: UsersService) {}

  @Post('deactivate')
  @Operation({
    summary: 'Deactivate a user',
    description: 'Ends their sessions and refuses their API tokens. Not yourself. Repeating it changes nothing.',
    status: 200,
    answers: UserStatusResponse,
    refuses: ['user_not_found', 'last_admin', 'self_action'],
  })
  async deactivate(@CurrentOperator() operator: ActingUser, @Param('user_id') userId: string) {
    return toUserStatus(await this.users.deactivate(operator, userId));
  }

  @Post('reactivate')
  @Operation({
    summary: 'Reactivate a user',
    description: 'Their API tokens work again; their sessions do not come back.',
    status: 200,
    answers: UserStatusResponse,
    refuses: ['user_not_found'],
  })
  async reactivate(@CurrentOperator() operator: ActingUser, @Param('user_id') userId: string) {
    return toUserStatus(await this.users.reactivate(operator, userId));
  }
}

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
    return toPage(await this.waitlist.list(query), query, (entry) => answer(WaitlistEntryResponse, entry));
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
    return answer(WaitlistEntryResponse, await this.waitlist.dismiss(operator, waitlistId));
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
    return answer(WaitlistEntryResponse, await this.waitlist.invite(operator, waitlistId));
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
    return answer(WaitlistEntryResponse, await this.waitlist.resend(operator, waitlistId));
  }
}
