import { Module } from '@nestjs/common';
import { ConnectionsModule } from '@aps/connections';
import { InferenceModule } from '@aps/inference';
import { Definitions } from './revisions/definitions';
import { ProcessRefs } from './revisions/process-refs';
import { References } from './revisions/references';
import { Staleness } from './revisions/staleness';
import { ConnectionStepTools } from './tools/connection-step-tools';
import { HttpRequestTool } from './tools/http-request.tool';
import { StepTools } from './tools/step-tools';

/** The tools that steps may call; whoever has some registers them here. */
@Module({ imports: [ConnectionsModule], providers: [StepTools, HttpRequestTool, ConnectionStepTools], exports: [StepTools] })
export class StepToolsModule {}

const read = [Definitions, ProcessRefs, Staleness];

/** What revisions say and name. */
@Module({ imports: [InferenceModule, StepToolsModule], providers: [...read, References], exports: [...read, References, StepToolsModule] })
export class DefinitionsModule {}
