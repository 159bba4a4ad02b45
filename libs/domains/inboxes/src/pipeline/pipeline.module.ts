import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { FilesModule } from '@aps/files';
import { InferenceModule } from '@aps/inference';
import { RunsModule } from '@aps/platform/runs';
import { RunControlModule } from '@aps/processes';
import { MessageLog } from '../messages/message-log';
import { Retention } from '../messages/retention';
import { RuleSets } from '../rules/rule-sets';
import { Classifier } from './classifier';
import { Evaluation } from './evaluation';
import { EvaluationRepository } from './evaluation.repository';
import { Evaluations } from './evaluations';
import { GateKeeper } from './gates';
import { Handoff } from './handoff';
import { HeldSignals } from './held-signals';
import { MessageKind } from './message.kind';
import { Releases } from './releases';
import { ReleaseCapacity } from './release-capacity';

const exported = [Evaluations, EvaluationRepository, MessageLog, RuleSets];

/** What begins evaluations. */
@Module({ providers: exported, exports: exported })
export class EvaluationsModule {}

/** The evaluation of messages, for the app that runs it. */
@Module({
  imports: [ChatsModule, EvaluationsModule, FilesModule, InferenceModule, RunControlModule, RunsModule],
  providers: [Retention, Classifier, Evaluation, GateKeeper, Handoff, HeldSignals, MessageKind, Releases, ReleaseCapacity],
  exports: [MessageKind, Releases, Retention, RunsModule],
})
export class PipelineModule {}
