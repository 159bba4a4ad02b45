import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  CreateEnvironmentRequest,
  CreateEnvironmentResponse,
  EnvironmentActivity,
  EnvironmentPingResponse,
  EnvironmentResponse,
  EnvironmentUsageResponse,
  RevealTokenResponse,
  UpdateEnvironmentRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { Operation, PageOf, PageQuery, toArray, toPage } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { Commands } from '../commands/commands.service';
import { EnvironmentsQueries } from '../environments.queries';
import { EnvironmentsService } from '../environments.service';
import { imagesConfig } from '../images/images.config';
import { toActivity, toEntered, toEnvironment } from './environments.convert';

@ApiTags('Environments')
@Controller('api/orgs/:org_id/environments')
@OrgMember('environments')
export class EnvironmentsController {
  constructor(
    private readonly environments: EnvironmentsService,
    private readonly queries: EnvironmentsQueries,
    private readonly commands: Commands,
  ) {}

  @Get()
  @Operation({
    summary: 'List environments',
    description: 'The built-in sandbox first, then in the order in which they were made.',
    answers: [EnvironmentResponse],
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    return toArray(await this.queries.list(scope, query), toEnvironment);
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Create an environment',
    description:
      'The built-in sandbox, of which an organization has one; a remote machine, whose daemon calls home with the token of this answer; or an image, which is looked at before commands run in it. ' +
      'Poll it, or follow `env:{id}`, until it is `online`.',
    answers: CreateEnvironmentResponse,
    refuses: ['sandbox_exists', 'limit_reached', 'entitlement_exceeded'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateEnvironmentRequest) {
    return toEntered(await this.environments.create(scope, body));
  }

  @Get('custom-images/registries')
  @Operation({
    summary: 'List the registries that custom images may be of',
    description: 'Hosts, some with a port; `*.` stands for one or more labels.',
    answers: { description: 'The registries.', schema: { type: 'array', items: { type: 'string' } }, models: [] },
  })
  registries(): string[] {
    return [...imagesConfig.value.registries];
  }

  @Get(':environment_id')
  @Operation({ summary: 'Get an environment', answers: EnvironmentResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string) {
    return toEnvironment(await this.queries.get(scope, id));
  }

  @Patch(':environment_id')
  @OrgAdmin('environments')
  @Operation({
    summary: 'Change an environment',
    description: 'A ceiling is brought into the bounds. An image reference, also the same one, is resolved and validated anew.',
    answers: EnvironmentResponse,
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string, @Body() body: UpdateEnvironmentRequest) {
    return toEnvironment(await this.environments.update(scope, id, body));
  }

  @Delete(':environment_id')
  @Operation({
    summary: 'Delete an environment',
    description:
      'Agents and chats that name it go on without; what runs there is killed, its token is dead, and its workspaces are removed.',
  })
  remove(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string) {
    return this.environments.delete(scope, id);
  }

  @Get(':environment_id/activity')
  @Operation({
    summary: 'List the commands of an environment',
    description: 'Newest first. Of chats that the caller may not open, neither which one nor what is told.',
    answers: PageOf(EnvironmentActivity, 'EnvironmentActivityResponse'),
  })
  async activity(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string, @Query() query: PageQuery) {
    return toPage(await this.queries.activity(scope, id, query), query, toActivity);
  }

  @Post(':environment_id/ping')
  @OrgMember('environments', { reads: true })
  @Operation({
    summary: 'Find out whether an environment runs commands',
    description: 'Runs one that does nothing, for at most ten seconds; it is no activity. That none can be run is an answer, and no error.',
    status: 200,
    answers: EnvironmentPingResponse,
  })
  ping(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string): Promise<EnvironmentPingResponse> {
    return this.commands.ping(scope, id);
  }

  @Post(':environment_id/reveal-token')
  @OrgAdmin('environments')
  @Operation({
    summary: 'Show the token of a remote machine again',
    description: 'Each time is on record in the audit log.',
    status: 200,
    answers: RevealTokenResponse,
    refuses: ['nothing_to_reveal', 'token_not_stored'],
  })
  async reveal(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string): Promise<RevealTokenResponse> {
    return { environment_id: id, ...(await this.environments.reveal(scope, id)) };
  }

  @Post(':environment_id/rotate-token')
  @OrgAdmin('environments')
  @Operation({
    summary: 'Replace the token of a remote machine',
    description:
      'The new one holds at once. A daemon that is connected goes on, and so does what was taken by the old token, which opens nothing more.',
    status: 200,
    answers: CreateEnvironmentResponse,
    refuses: ['nothing_to_reveal'],
  })
  async rotate(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string) {
    return toEntered(await this.environments.rotate(scope, id));
  }

  @Get(':environment_id/usage')
  @Operation({
    summary: 'List who uses an environment',
    description:
      'Agents whose draft, live revision or running experiment names it, and chats that do, the first thousand of each; chats that the caller may not open are only counted.',
    answers: EnvironmentUsageResponse,
  })
  usage(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string): Promise<EnvironmentUsageResponse> {
    return this.queries.usage(scope, id);
  }

  @Post(':environment_id/validate')
  @Operation({
    summary: 'Validate a custom image anew',
    description:
      'At the digest that it was resolved to; a tag is resolved only by `PATCH`. While it is validated already, that goes on. Where its registry cannot be asked, an image that was fine stays `online`, with the check that failed.',
    status: 200,
    answers: EnvironmentResponse,
  })
  async validate(@CurrentOrg() scope: OrgScope, @Param('environment_id') id: string) {
    return toEnvironment(await this.environments.validate(scope, id));
  }
}
