import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AddPlatformAdminRequest, PlatformAdminResponse } from '@aps/dtos';
import { type ActingUser, PlatformAdmin } from '@aps/guards';
import { PlatformAdminsService } from '@aps/identity';
import { Idempotent } from '@aps/platform/idempotency';
import { toPlatformAdmin } from './admins.convert';
import { CurrentOperator } from './current-operator';

@ApiTags('Administration: people')
@Controller('/api/admin/admins')
export class PlatformAdminsController {
  constructor(private readonly admins: PlatformAdminsService) {}

  @Get()
  @PlatformAdmin()
  @ApiOperation({ summary: 'List the platform administrators' })
  @ApiOkResponse({ type: [PlatformAdminResponse] })
  async list(): Promise<PlatformAdminResponse[]> {
    return (await this.admins.list()).map(toPlatformAdmin);
  }

  @Post()
  @PlatformAdmin()
  @Idempotent()
  @ApiOperation({ summary: 'Make a registered user a platform administrator' })
  @ApiCreatedResponse({ type: PlatformAdminResponse })
  @ApiNotFoundResponse({ description: '`user_not_found`: nobody has registered with the address.' })
  async add(@CurrentOperator() operator: ActingUser, @Body() body: AddPlatformAdminRequest): Promise<PlatformAdminResponse> {
    return toPlatformAdmin(await this.admins.add(operator, body.email));
  }

  @Delete(':user_id')
  @HttpCode(204)
  @PlatformAdmin()
  @ApiOperation({
    summary: 'Take the administration of the platform from a user',
    description: 'Not from yourself, and not from the last one who can act.',
  })
  @ApiNoContentResponse()
  async remove(@CurrentOperator() operator: ActingUser, @Param('user_id') userId: string): Promise<void> {
    await this.admins.remove(operator, userId);
  }
}
