import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { MemberResponse, UpdateMemberRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, type OrgScope } from '@aps/guards';
import { ApiPage, type Page, PageQuery } from '@aps/platform/http';
import { MembersQueries } from '../members.queries';
import { MembersService } from '../members.service';
import { toMember, toPageOf } from './convert';
import { ApiMemberPath, ApiOrgPath, ApiRefusal } from './docs';

@ApiTags('Members')
@ApiOrgPath()
@Controller('api/orgs/:org_id/members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly queries: MembersQueries,
  ) {}

  @Get()
  @OrgMember('members')
  @ApiOperation({ summary: 'List the members', description: 'Oldest membership first.' })
  @ApiPage(MemberResponse, 'MemberListResponse')
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery): Promise<Page<MemberResponse>> {
    return toPageOf(await this.queries.list(scope, query), query, toMember);
  }

  @Post('leave')
  @OrgMember('members')
  @HttpCode(204)
  @ApiOperation({ summary: 'Leave the organization' })
  @ApiNoContentResponse()
  @ApiRefusal(409, '`last_owner`: the organization would have no owner who can sign in.')
  async leave(@CurrentOrg() scope: OrgScope): Promise<void> {
    await this.members.leave(scope);
  }

  @Get(':member_id')
  @OrgMember('members')
  @ApiMemberPath()
  @ApiOperation({ summary: 'Show a member' })
  @ApiOkResponse({ type: MemberResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('member_id') memberId: string): Promise<MemberResponse> {
    return toMember(await this.queries.get(scope, memberId));
  }

  @Patch(':member_id')
  @OrgAdmin('members')
  @ApiMemberPath()
  @ApiOperation({
    summary: "Change a member's role",
    description: 'Only an owner can give ADMIN or OWNER, or change an owner. Nobody changes their own role (422 `self_action`).',
  })
  @ApiOkResponse({ type: MemberResponse })
  @ApiRefusal(409, '`last_owner`: the organization would have no owner who can sign in.')
  async setRole(
    @CurrentOrg() scope: OrgScope,
    @Param('member_id') memberId: string,
    @Body() body: UpdateMemberRequest,
  ): Promise<MemberResponse> {
    return toMember(await this.members.setRole(scope, memberId, body.role));
  }

  @Delete(':member_id')
  @OrgAdmin('members')
  @HttpCode(204)
  @ApiMemberPath()
  @ApiOperation({
    summary: 'Remove a member',
    description: 'Only an owner can remove an owner. Nobody removes themself (422 `self_action`, see leave).',
  })
  @ApiNoContentResponse()
  @ApiRefusal(409, '`last_owner`: the organization would have no owner who can sign in.')
  async remove(@CurrentOrg() scope: OrgScope, @Param('member_id') memberId: string): Promise<void> {
    await this.members.remove(scope, memberId);
  }
}
