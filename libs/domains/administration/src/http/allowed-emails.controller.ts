import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AddAllowedEmailRequest, AllowedEmailResponse } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { AllowedEmailsService } from '@aps/identity';
import { answer, Operation, toArray } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';

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
