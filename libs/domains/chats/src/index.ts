export * from './state/chat.types';
export { ChatEnds, type ChatEnd, type EndListener } from './state/chat-ends';
export * from './chats.module';
export { ChatsQueries } from './reading/chats.queries';
export { ChatsService, type NewChat } from './chats.service';
export {
  CloseService,
  ContinueService,
  DiagnosisQueries,
  EndService,
  MemberChatsModule,
  RetryService,
  StopService,
  UpdateService,
  type ChatPatch,
  type Diagnosis,
  type StopResult,
  type TerminateResult,
} from './control';
export type { Breakdown, BillingUnit, ModelCost, TypeCost } from './reading/cost.policy';
export { CostQueries, type ChatCosts } from './reading/cost.queries';
export type { AnswerInput, StoredCall } from './hitl/hitl.policy';
export { formProblems, schemaFault } from './hitl/form-schema';
export { HitlQueries, type HitlFilter } from './hitl/hitl.queries';
export { HitlService, type NewRequest } from './hitl/hitl.service';
export { RunQuestions, type RunAsker } from './hitl/run-questions';
export { EXPIRES_S, HEARTBEAT_S } from './presence/presence.store';
export { PresenceModule } from './presence/presence.module';
export { PresenceService, type Viewer } from './presence/presence.service';
export { ChatStarts, type BegunTurn, type ChatStart, type GivenMessage } from './sending/chat-starts';
export { SendService, type MessageInput, type SendResult } from './sending/send.service';
export { answererOf, TimelineQueries, type TimelineEntry, type TimelineRow } from './reading/timeline.queries';
export type { Toggle, ToggleChange } from './toggles.policy';
export { TogglesService, type ChatToggles } from './toggles.service';
export { QueueDepth } from './turns/queue-depth';
export { TurnBudgets, type BudgetKeeper } from './turns/turn-budgets';
export { TitleService } from './turns/title.service';
export type { TurnQuote } from './turns/turn-quotes';
export { TurnKind } from './turns/turn.kind';
