import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import { CloseService } from '../control/close.service';
import { ContinueService } from '../control/continue.service';
import { DiagnosisQueries } from '../control/diagnosis.queries';
import { RetryService } from '../control/retry.service';
import { StopService } from '../control/stop.service';
import { UpdateService } from '../control/update.service';
import { ChatsQueries } from '../reading/chats.queries';
import {
  ChatDiagnosisResponse,
  ChatResponse,
  StopChatRequest,
  StopChatResponse,
  TerminateChatResponse,
  UpdateChatRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { IdempotencyAttempt, Idempotent, type Attempt } from '@aps/platform/idempotency';
import { toChat } from './chats.convert';
import { toDiagnosis, toStop, toTerminated } from './control.convert';

/** What is done to a chat besides talking to it. */
@ApiTags('Chats')
@Controller('api/orgs/:org_id/agents/:agent_id/chats/:chat_id')
@OrgMember('chats')
export class ChatControlController {
  constructor(
    private readonly stops: StopService,
    private readonly closing: CloseService,
    private readonly updates: UpdateService,
    private readonly continuing: ContinueService,
    private readonly retries: RetryService,
    private readonly diagnoses: DiagnosisQueries,
    private readonly queries: ChatsQueries,
    private readonly entitlements: Entitlements,
  ) {}

  @Patch()
  @Operation({
    summary: 'Rename, share or archive a chat',
    description: 'At least one field. An archived chat keeps its open questions to humans, but answers no longer have it go on.',
    answers: ChatResponse,
    refuses: ['creator_only', 'cannot_unarchive', 'follows_root'],
  })
  async update(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @Body() body: UpdateChatRequest,
  ) {
    await this.updates.update(scope, agentId, chatId, body);
    return this.chat(scope, agentId, chatId);
  }

  @Delete()
  @Operation({
    summary: 'Delete a chat',
    description: 'Nobody finds it any more, and nothing of it runs. Chats that it has delegated to are not deleted.',
  })
  async remove(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    await this.closing.delete(scope, agentId, chatId);
  }

  @Post('stop')
  @Operation({
    summary: 'Stop what the chat is doing',
    description:
      'Ends the running turn, one that has not begun, or the waiting for child chats, a timer or room to run; waiting for a human goes on. The chat stays usable. ' +
      'With `cascade`, every chat that it has delegated to is stopped likewise. Doing nothing is no error.',
    status: 200,
    answers: StopChatResponse,
  })
  async stop(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @Body() body: StopChatRequest,
  ) {
    return toStop(await this.stops.stop(scope, agentId, chatId, body));
  }

  @Post('terminate')
  @Operation({
    summary: 'End a chat',
    description: 'It is archived for good: what runs is cut off, questions to humans are cancelled. Chats that it has delegated to run on.',
    status: 200,
    answers: TerminateChatResponse,
  })
  async terminate(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    return toTerminated(await this.closing.terminate(scope, agentId, chatId));
  }

  @Post('continue')
  @Idempotent()
  @Operation({
    summary: 'Continue a chat',
    description:
      'Dispatches the next turn of a chat that failed, or was closed because credits were used up or its model has no price, without a new message; refused while that has not passed. Two at once dispatch one turn.',
    status: 200,
    answers: ChatResponse,
    refuses: ['credits_exhausted', 'budget_exceeded', 'agent_deleted', 'not_continuable', 'queue_full'],
  })
  async continue(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    await this.continuing.continue(scope, agentId, chatId, attempt);
    return this.chat(scope, agentId, chatId);
  }

  @Post('retry')
  @Idempotent()
  @Operation({
    summary: 'Begin a chat anew',
    description:
      'Opens a new chat of the caller with what users wrote before the first answer (the last 500 messages of that), on the agent as it is live now, and dispatches it at once. The chat itself is left as it is. ' +
      '`dispatch_failed` means that the new chat is stored, as `context.chat_id`, and nothing runs: continue it, or repeat the request with the same `Idempotency-Key`.',
    answers: ChatResponse,
    refuses: ['agent_deleted', 'nothing_to_retry', 'queue_full', 'dispatch_failed'],
  })
  async retry(
    @CurrentOrg() scope: OrgScope,
    @Param('agent_id') agentId: string,
    @Param('chat_id') chatId: string,
    @IdempotencyAttempt() attempt: Attempt | undefined,
  ) {
    return this.chat(scope, agentId, await this.retries.retry(scope, agentId, chatId, attempt));
  }

  @Get('diagnosis')
  @Operation({
    summary: 'Explain what a chat waits for',
    description:
      'What keeps it from going on, who runs it, where it stands in the queue, and what may be done. Works while no worker and no queue can be reached.',
    answers: ChatDiagnosisResponse,
  })
  async diagnosis(@CurrentOrg() scope: OrgScope, @Param('agent_id') agentId: string, @Param('chat_id') chatId: string) {
    return toDiagnosis(await this.diagnoses.of(scope, agentId, chatId));
  }

  private async chat(scope: OrgScope, agentId: string, chatId: string) {
    const [{ chat, messages }, hideDollars] = await Promise.all([
      this.queries.withMessages(scope, agentId, chatId),
      this.entitlements.hidesDollars(scope.orgId),
    ]);
    return toChat(chat, messages, hideDollars);
  }
}
