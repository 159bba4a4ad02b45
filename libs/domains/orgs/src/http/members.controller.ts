import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { MemberResponse, UpdateMemberRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, type OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toPage } from '@aps/platform/http';
import { MembersQueries } from '../members.queries';
import { MembersService } from '../members.service';
import { toMember } from './orgs.convert';

@ApiTags('Members')
@Controller('api/orgs/:org_id/members')
@OrgMember('members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly queries: MembersQueries,
  ) {}

  @Get()
  @Operation({
    summary: 'List the members',
    description: 'Oldest membership first.',
    answers: PageOf(MemberResponse, 'MemberListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    return toPage(await this.queries.list(scope, query), query, toMember);
  }

  @Post('leave')
  @Operation({ summary: 'Leave the organization', refuses: ['last_owner'] })
  async leave(@CurrentOrg() scope: OrgScope) {
    await this.members.leave(scope);
  }

  @Get(':member_id')
  @Operation({ summary: 'Show a member', answers: MemberResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('member_id') memberId: string) {
    return toMember(await this.queries.get(scope, memberId));
  }

  @Patch(':member_id')
  @OrgAdmin('members')
  @Operation({
    summary: "Change a member's role",
    description: 'Only an owner can give ADMIN or OWNER, or change an owner. Nobody changes their own role (422 `self_action`).',
    answers: MemberResponse,
    refuses: ['last_owner', 'self_action'],
  })
  async setRole(@CurrentOrg() scope: OrgScope, @Param('member_id') memberId: string, @Body() body: UpdateMemberRequest) {
    return toMember(await this.members.setRole(scope, memberId, body.role));
  }

  @Delete(':member_id')
  @OrgAdmin('members')
  @Operation({
    summary: 'Remove a member',
    description: 'Only an owner can remove an owner. Nobody removes themself (422 `self_action`, see leave).',
    refuses: ['last_owner', 'self_action'],
  })
  async remove(@CurrentOrg() scope: OrgScope, @Param('member_id') memberId: string) {
    await this.members.remove(scope, memberId);
  }
}
