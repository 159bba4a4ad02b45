import { Body, Controller, Delete, Get, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  DeployInboxRevisionResponse,
  InboxRevisionResponse,
  InboxSimulationResponse,
  PushInboxRevisionRequest,
  SimulateInboxRevisionRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgMember, OrgScope } from '@aps/guards';
import { answer, goneSignal, Operation, toArray } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import type { Response } from 'express';
import { Simulations } from '../messages/simulations';
import { RevisionsService } from '../rules/revisions.service';
import { toDeployment, toRevision } from './inboxes.convert';
import { BY_INBOX } from './inboxes.controller';

@ApiTags('Inboxes')
@Controller('api/orgs/:org_id/inboxes/:inbox_id/revisions')
export class InboxRevisionsController {
  constructor(
    private readonly revisions: RevisionsService,
    private readonly simulations: Simulations,
  ) {}

  @Get()
  @OrgMember('inboxes', BY_INBOX)
  @Operation({ summary: 'List the rule sets of an inbox', description: 'Newest version first.', answers: [InboxRevisionResponse] })
  async list(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string) {
    return toArray(await this.revisions.list(scope, inboxId), toRevision);
  }

  @Post()
  @OrgAdmin('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Push a rule set',
    description:
      'Makes a draft. An open draft is overwritten, with 200; what the newest revision says already is not written again, with 200. Every problem of its shape is told at once.',
    status: [201, 200],
    answers: InboxRevisionResponse,
  })
  async push(
    @CurrentOrg() scope: OrgScope,
    @Param('inbox_id') inboxId: string,
    @Body() { definition }: PushInboxRevisionRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { revision, created } = await this.revisions.push(scope, inboxId, definition);
    response.status(created ? 201 : 200);
    return toRevision(revision);
  }

  @Get(':revision_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({ summary: 'Get a rule set', answers: InboxRevisionResponse })
  async get(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('revision_id') id: string) {
    return toRevision(await this.revisions.get(scope, inboxId, id));
  }

  @Delete(':revision_id')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Discard a rule set',
    description: 'A draft, or one that was superseded. Its version is not given again.',
    refuses: ['revision_kept'],
  })
  discard(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('revision_id') id: string) {
    return this.revisions.discard(scope, inboxId, id);
  }

  @Post(':revision_id/deploy')
  @OrgAdmin('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Deploy a rule set',
    description:
      'A draft becomes what new messages are judged by, once all that it names is there; older drafts are superseded. Deploying what is deployed changes nothing.',
    status: 200,
    answers: DeployInboxRevisionResponse,
    refuses: ['entitlement_required', 'not_a_draft', 'revision_invalid'],
  })
  async deploy(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('revision_id') id: string) {
    return toDeployment(await this.revisions.deploy(scope, inboxId, id));
  }

  @Post(':revision_id/rollback')
  @OrgAdmin('inboxes', BY_INBOX)
  @Idempotent()
  @Operation({
    summary: 'Go back to a rule set',
    description: 'One that was deployed before is deployed again. Drafts stay as they are.',
    status: 200,
    answers: DeployInboxRevisionResponse,
    refuses: ['already_deployed', 'not_previously_deployed'],
  })
  async rollback(@CurrentOrg() scope: OrgScope, @Param('inbox_id') inboxId: string, @Param('revision_id') id: string) {
    return toDeployment(await this.revisions.rollback(scope, inboxId, id));
  }

  @Post(':revision_id/simulate')
  @OrgMember('inboxes', BY_INBOX)
  @Operation({
    summary: 'Try a rule set on messages that came',
    description:
      'What would become of each by its stages, against what does by the live ones. Gates decide as they did then; classifiers answer what they did then, where they were asked the same. Nothing is written, sent or spent.',
    status: 200,
    answers: InboxSimulationResponse,
    refuses: ['revision_invalid'],
  })
  async simulate(
    @CurrentOrg() scope: OrgScope,
    @Param('inbox_id') inboxId: string,
    @Param('revision_id') id: string,
    @Body() body: SimulateInboxRevisionRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    return answer(InboxSimulationResponse, await this.simulations.run(scope, inboxId, id, body, goneSignal(response)));
  }
}
