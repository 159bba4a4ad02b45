import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { UserStatusResponse } from '@aps/dtos';
import { type ActingUser, PlatformAdmin } from '@aps/guards';
import { UsersService } from '@aps/identity';
import { toUserStatus } from './admins.convert';
import { CurrentOperator } from './current-operator';

@ApiTags('Administration: people')
@Controller('/api/admin/users/:user_id')
export class AdminUsersController {
  constructor(private readonly users: UsersService) {}

  @Post('deactivate')
  @HttpCode(200)
  @PlatformAdmin()
  @ApiOperation({
    summary: 'Deactivate a user',
    description: 'Ends their sessions and refuses their API tokens. Not yourself. Repeating it changes nothing.',
  })
  @ApiOkResponse({ type: UserStatusResponse })
  async deactivate(@CurrentOperator() operator: ActingUser, @Param('user_id') userId: string): Promise<UserStatusResponse> {
    return toUserStatus(await this.users.deactivate(operator, userId));
  }

  @Post('reactivate')
  @HttpCode(200)
  @PlatformAdmin()
  @ApiOperation({ summary: 'Reactivate a user', description: 'Their API tokens work again; their sessions do not come back.' })
  @ApiOkResponse({ type: UserStatusResponse })
  async reactivate(@CurrentOperator() operator: ActingUser, @Param('user_id') userId: string): Promise<UserStatusResponse> {
    return toUserStatus(await this.users.reactivate(operator, userId));
  }
}
