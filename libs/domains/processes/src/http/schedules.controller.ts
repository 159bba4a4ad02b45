import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateScheduleRequest, ScheduleListQuery, ScheduleResponse, UpdateScheduleRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { SchedulesQueries } from '../schedules/schedules.queries';
import { SchedulesService } from '../schedules/schedules.service';
import { toSchedule } from './schedules.convert';

const BY_SCHEDULE: AccessOptions = { params: { schedule_id: 'uuid' } };

@ApiTags('Schedules')
@Controller('api/orgs/:org_id/schedules')
export class SchedulesController {
  constructor(
    private readonly schedules: SchedulesService,
    private readonly queries: SchedulesQueries,
  ) {}

  @Get()
  @OrgMember('processes')
  @Operation({
    summary: 'List schedules',
    description: 'Newest first, each with what became of what it has begun last.',
    answers: PageOf(ScheduleResponse),
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: ScheduleListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toSchedule);
  }

  @Post()
  @OrgAdmin('processes')
  @Idempotent()
  @Operation({
    summary: 'Create a schedule',
    description:
      'From then on it begins a run of its process, or a chat of its agent, at each time that its cron names. A local time that a change of the clock skips ' +
      'fires at the change, and one that it repeats fires once; a cron of every hour goes by the clock as it is.',
    answers: ScheduleResponse,
    refuses: ['limit_reached', 'revision_invalid', 'unknown_reference'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateScheduleRequest) {
    return toSchedule(await this.schedules.create(scope, body));
  }

  @Get(':schedule_id')
  @OrgMember('processes', BY_SCHEDULE)
  @Operation({ summary: 'Get a schedule', answers: ScheduleResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('schedule_id') id: string) {
    return toSchedule(await this.queries.get(scope, id));
  }

  @Patch(':schedule_id')
  @OrgAdmin('processes', BY_SCHEDULE)
  @Operation({
    summary: 'Change a schedule',
    description:
      'Another `cron`, `timezone` or `enabled` has `next_run_at` computed anew, from now on. A disabled one does not fire, nor does a firing that waits.',
    answers: ScheduleResponse,
    refuses: ['revision_invalid', 'unknown_reference'],
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('schedule_id') id: string, @Body() body: UpdateScheduleRequest) {
    return toSchedule(await this.schedules.update(scope, id, body));
  }

  @Delete(':schedule_id')
  @OrgAdmin('processes', BY_SCHEDULE)
  @Operation({ summary: 'Delete a schedule', description: 'Chats and runs that it has begun go on.' })
  remove(@CurrentOrg() scope: OrgScope, @Param('schedule_id') id: string) {
    return this.schedules.delete(scope, id);
  }
}
