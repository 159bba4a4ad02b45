import { Module } from '@nestjs/common';
import { FilesModule } from '@aps/files';
import { InferenceModule } from '@aps/inference';
import { ToolsModule } from '@aps/tools';
import { PromptFiles } from './prompt-files';
import { PromptRunner } from './prompt-runner';
import { LostPromptRuns } from './prompt-runs.maintenance';
import { PromptRunsRepository } from './prompt-runs.repository';
import { PromptsQueries } from './prompts.queries';
import { PromptsService } from './prompts.service';
import { RunPromptTemplateTool } from './run-prompt-template.tool';

const exported = [PromptsQueries, PromptsService, PromptRunner];

@Module({ imports: [FilesModule, InferenceModule], providers: [...exported, PromptFiles, PromptRunsRepository], exports: exported })
export class PromptsModule {}

/** The tool by which agents run templates, for a worker application. */
@Module({ imports: [PromptsModule, ToolsModule], providers: [RunPromptTemplateTool] })
export class PromptToolsModule {}

/** What is done to runs that nobody is at work on, for a worker application. */
@Module({ providers: [PromptRunsRepository, LostPromptRuns] })
export class PromptsMaintenanceModule {}
