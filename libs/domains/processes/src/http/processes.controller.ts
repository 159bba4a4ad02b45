import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateProcessRequest, ProcessListQuery, ProcessResponse, UpdateProcessRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope, type AccessOptions } from '@aps/guards';
import { Operation, PageOf, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ProcessesQueries } from '../processes.queries';
import { ProcessesService } from '../processes.service';
import { toProcess } from './processes.convert';

export const BY_PROCESS: AccessOptions = { params: { process_id: 'prefixed_id' } };

@ApiTags('Processes')
@Controller('api/orgs/:org_id/processes')
export class ProcessesController {
  constructor(
    private readonly processes: ProcessesService,
    private readonly queries: ProcessesQueries,
  ) {}

  @Get()
  @OrgMember('processes')
  @Operation({ summary: 'List processes', description: 'Newest first, each with its newest run.', answers: PageOf(ProcessResponse) })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: ProcessListQuery) {
    return toPage(await this.queries.list(scope, query, query), query, toProcess);
  }

  @Post()
  @OrgAdmin('processes')
  @Idempotent()
  @Operation({
    summary: 'Create a process',
    description: 'It has no revision yet: nothing runs before one is pushed and deployed.',
    answers: ProcessResponse,
    refuses: ['slug_taken'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateProcessRequest) {
    return toProcess(await this.processes.create(scope, body));
  }

  @Get(':process_id')
  @OrgMember('processes', BY_PROCESS)
  @Operation({ summary: 'Get a process', answers: ProcessResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('process_id') id: string) {
    return toProcess(await this.queries.get(scope, id));
  }

  @Patch(':process_id')
  @OrgAdmin('processes', BY_PROCESS)
  @Operation({ summary: 'Change a process', description: 'What it does is changed by a revision.', answers: ProcessResponse })
  async update(@CurrentOrg() scope: OrgScope, @Param('process_id') id: string, @Body() body: UpdateProcessRequest) {
    return toProcess(await this.processes.update(scope, id, body));
  }

  @Delete(':process_id')
  @OrgAdmin('processes', BY_PROCESS)
  @Operation({ summary: 'Delete a process', description: 'Its live runs are cancelled, and nothing of it can be read any more.' })
  remove(@CurrentOrg() scope: OrgScope, @Param('process_id') id: string) {
    return this.processes.delete(scope, id);
  }
}
