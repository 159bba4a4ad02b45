import { Body, Controller, Delete, Get, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateTeamRequest, ReorderTeamsRequest, TeamListQuery, TeamResponse, UpdateTeamRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { TEAMS } from '../sharing/blocks.sql';
import { SharedBlocks } from '../sharing/blocks.service';
import { TeamsQueries, type TeamView } from '../sharing/teams.queries';
import { BY_TEAM } from './params';

const toTeam = (team: TeamView): TeamResponse => answer(TeamResponse, team);

@ApiTags('Agent teams')
@Controller('api/orgs/:org_id/agent-teams')
@OrgMember('teams')
export class TeamsController {
  constructor(
    private readonly teams: SharedBlocks,
    private readonly queries: TeamsQueries,
  ) {}

  @Get()
  @Operation({ summary: 'List agent teams', description: 'In the order that members have chosen.', answers: PageOf(TeamResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: TeamListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toTeam);
  }

  @Post()
  @OrgAdmin('teams')
  @Idempotent()
  @Operation({
    summary: 'Create an agent team',
    description: 'Agents join it by their `team_id`, and have what it shares from their next turn on.',
    answers: TeamResponse,
    refuses: ['entitlement_required', 'slug_taken', 'unknown_reference'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateTeamRequest) {
    return toTeam(await this.queries.get(scope, (await this.teams.create(scope, TEAMS, body)).id));
  }

  @Put('reorder')
  @Operation({
    summary: 'Put agent teams in order',
    description: 'The named ones first, the others after them in theirs. Ids of no live team are passed over.',
  })
  async reorder(@CurrentOrg() scope: OrgScope, @Body() body: ReorderTeamsRequest) {
    await this.teams.reorder(scope, TEAMS, body.team_ids);
  }

  @Get(':team_id')
  @OrgMember('teams', BY_TEAM)
  @Operation({ summary: 'Get an agent team', answers: TeamResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('team_id') teamId: string) {
    return toTeam(await this.queries.get(scope, teamId));
  }

  @Patch(':team_id')
  @OrgAdmin('teams', BY_TEAM)
  @Operation({
    summary: 'Edit an agent team',
    description: 'What it shares holds for the next turn of each of its agents, in chats that have begun, too.',
    answers: TeamResponse,
    refuses: ['entitlement_required', 'slug_taken', 'unknown_reference'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('team_id') teamId: string, @Body() body: UpdateTeamRequest) {
    return toTeam(await this.queries.get(scope, (await this.teams.update(scope, TEAMS, teamId, body)).id));
  }

  @Delete(':team_id')
  @OrgAdmin('teams', BY_TEAM)
  @Operation({ summary: 'Delete an agent team', description: 'Its agents stay, in no team. What it remembers is deleted.' })
  async remove(@CurrentOrg() scope: OrgScope, @Param('team_id') teamId: string) {
    await this.teams.delete(scope, TEAMS, teamId);
  }
}
