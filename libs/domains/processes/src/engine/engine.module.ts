import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { FilesModule } from '@aps/files';
import { InferenceModule } from '@aps/inference';
import { RunsModule } from '@aps/platform/runs';
import { PromptsModule } from '@aps/prompts';
import { ToolsModule } from '@aps/tools';
import { DefinitionsModule } from '../definitions.module';
import { ScheduleStops } from '../schedules/schedule-stops';
import { Admissions } from './admissions';
import { Calls } from './calls';
import { Ledgers } from './calls/ledgers';
import { LlmCalls } from './calls/llm-calls';
import { ModelQuestions } from './calls/model-call';
import { PayloadRepairs } from './calls/payload-repairs';
import { PromptCalls } from './calls/prompt-calls';
import { ToolCalls } from './calls/tool-calls';
import { Cancellation } from './cancellation';
import { ChatListener } from './chat-listener';
import { JournalRoom } from './journal-room';
import { JournalRepository } from './journal.repository';
import { Openings } from './openings';
import { ProcessRunKind } from './process-run.kind';
import { Removal } from './removal';
import { RunBegins } from './run-begins';
import { RunBudgets } from './run-budgets';
import { RunDriver } from './run-driver';
import { RunEnds } from './run-ends';
import { RunFiles } from './run-files';
import { HumanWaitSignals } from './run-signals';
import { RunStarter } from './run-starter';
import { ProcessTools } from '../tools/process.tools';
import { Wakes } from './wakes';

const begun = [
  Admissions,
  Cancellation,
  ChatListener,
  JournalRepository,
  Removal,
  RunBegins,
  RunBudgets,
  RunEnds,
  RunFiles,
  RunStarter,
  Wakes,
];

/** What begins, wakes and ends runs: for every app in which chats end, or humans answer or let the time pass. */
@Module({
  imports: [ChatsModule, DefinitionsModule, FilesModule, ToolsModule],
  providers: [...begun, ProcessTools, ScheduleStops],
  exports: begun,
})
export class RunControlModule {}

/** What has runs go on, for the app that does so. */
@Module({
  imports: [ChatsModule, InferenceModule, PromptsModule, RunControlModule, RunsModule, DefinitionsModule],
  providers: [
    Calls,
    Ledgers,
    LlmCalls,
    ModelQuestions,
    PayloadRepairs,
    PromptCalls,
    ToolCalls,
    JournalRoom,
    Openings,
    RunDriver,
    HumanWaitSignals,
    ProcessRunKind,
  ],
  exports: [ProcessRunKind, RunControlModule, RunsModule],
})
export class EngineModule {}
