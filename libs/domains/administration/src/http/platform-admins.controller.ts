import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AddPlatformAdminRequest, PlatformAdminResponse } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { PlatformAdminsService } from '@aps/identity';
import { answer, Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';

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
