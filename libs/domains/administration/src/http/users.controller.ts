import { Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { UserStatusResponse } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { UsersService } from '@aps/identity';
import { Operation } from '@aps/platform/http';
import { toUserStatus } from './administration.convert';

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
