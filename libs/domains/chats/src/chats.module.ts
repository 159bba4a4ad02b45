import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { ConnectionsModule } from '@aps/connections';
import { DecisionMakingModule } from '@aps/decisions';
import { EnvironmentsModule, ExecToolsModule } from '@aps/environments';
import { FilesModule } from '@aps/files';
import { InferenceModule } from '@aps/inference';
import { Deletions } from '@aps/platform/database';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { RunsModule } from '@aps/platform/runs';
import { KnowledgeToolsModule } from '@aps/knowledge';
import { PromptsModule, PromptToolsModule } from '@aps/prompts';
import { ToolsModule } from '@aps/tools';
import { ChatLog } from './state/chat-log';
import { ChatLogRepository } from './state/chat-log.repository';
import { ChatsQueries } from './reading/chats.queries';
import { ChatEnds } from './state/chat-ends';
import { ChatState } from './state/chat-state.repository';
import { DispatchRepository } from './turns/dispatch.repository';
import { ChatStarts } from './sending/chat-starts';
import { SendRepository } from './sending/send.repository';
import { ChatsService } from './chats.service';
import { CONTROL, CONTROL_PARTS, MemberChatsModule } from './control';
import { CostQueries } from './reading/cost.queries';
import { ChildWaits } from './delegation/child-waits';
import { DelegateTool } from './delegation/delegate.tool';
import { DelegationRepository } from './delegation/delegation.repository';
import { DelegationSweeper } from './delegation/delegation-sweeper';
import { AskHumanTool } from './hitl/ask-human.tool';
import { HitlTasks } from './hitl/hitl.maintenance';
import { HitlQueries } from './hitl/hitl.queries';
import { HitlRepository } from './hitl/hitl.repository';
import { HitlService } from './hitl/hitl.service';
import { RunQuestions } from './hitl/run-questions';
import { HumanEscalation } from './hitl/human-escalation';
import { HumanWaits } from './hitl/human-waits';
import { MessageFiles } from './sending/message-files';
import { QueueDepth } from './turns/queue-depth';
import { RolloutChatsModule } from './reading/rollout-chats.module';
import { SendService } from './sending/send.service';
import { TimelineQueries } from './reading/timeline.queries';
import { TogglesService } from './toggles.service';
import { CoreTools } from './tools/core-tools';
import { TodoRepository } from './tools/todo.repository';
import { TurnAttachments } from './turns/attachments';
import { DocumentTexts } from './turns/document-texts';
import { Compaction } from './turns/compaction';
import { ModelStepRunner } from './turns/model-step';
import { StepAnswers } from './turns/step-answers';
import { TitleRepository } from './turns/title.repository';
import { TitleService } from './turns/title.service';
import { ToolCalls } from './turns/tool-call';
import { ToolResults } from './turns/tool-results';
import { ToolRouter } from './turns/tool-router';
import { ToolStepRunner } from './turns/tool-step';
import { TurnBudgets } from './turns/turn-budgets';
import { TurnCalls } from './turns/turn-calls';
import { TurnCharges } from './turns/turn-charges';
import { TurnTools } from './turns/turn-tools';
import { TurnEndings } from './turns/turn-endings';
import { TurnQuotes } from './turns/turn-quotes';
import { TurnKind } from './turns/turn.kind';
import { TurnWaits } from './turns/turn-waits';
import { TurnRepository } from './turns/turn.repository';

/** What models are asked in turns, the tools that they are offered included. */
const ASKING = [TurnCalls, TurnTools, TurnQuotes, TurnAttachments, DocumentTexts, CoreTools, DelegateTool, AskHumanTool];

const exported = [
  ChatLog,
  ChatsQueries,
  ChatState,
  ChatEnds,
  DispatchRepository,
  SendRepository,
  ChatsService,
  ChatStarts,
  SendService,
  QueueDepth,
  TodoRepository,
  TurnRepository,
  TurnBudgets,
  TurnEndings,
  TurnWaits,
  ChildWaits,
  DelegationRepository,
  HitlRepository,
  HitlQueries,
  HitlService,
  RunQuestions,
  TimelineQueries,
  CostQueries,
  TogglesService,
  ...ASKING,
  ...CONTROL,
];

/** Chats as their users see them. */
@Module({
  imports: [
    AgentsModule,
    ConnectionsModule,
    DecisionMakingModule,
    EnvironmentsModule,
    ExecToolsModule,
    FilesModule,
    InferenceModule,
    IdempotencyModule,
    PromptsModule,
    PromptToolsModule,
    KnowledgeToolsModule,
    MemberChatsModule,
    RolloutChatsModule,
    ToolsModule,
  ],
  providers: [...exported, ChatLogRepository, MessageFiles, ToolResults, HumanWaits, ...CONTROL_PARTS],
  exports: exported,
})
export class ChatsModule {
  constructor(deletions: Deletions, chats: ChatState) {
    deletions.listen(async (tx, { kind, orgId, id }) => {
      if (kind === 'environment') await chats.leaveEnvironment(tx, orgId, id);
    });
  }
}

/** The running of turns, for workers. */
@Module({
  imports: [ChatsModule, AgentsModule, DecisionMakingModule, InferenceModule, RunsModule, ToolsModule],
  providers: [
    TurnKind,
    ModelStepRunner,
    StepAnswers,
    ToolCalls,
    ToolStepRunner,
    TurnCharges,
    Compaction,
    ToolRouter,
    TitleRepository,
    TitleService,
    DelegationSweeper,
    HumanEscalation,
    HitlTasks,
  ],
  exports: [TurnKind, TitleService, RunsModule],
})
export class TurnsModule {}
