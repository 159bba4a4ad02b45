import { Module } from '@nestjs/common';
import { FilesModule } from '@aps/files';
import { InferenceModule, ModelUsers } from '@aps/inference';
import { ToolsModule } from '@aps/tools';
import { PromptFiles } from './prompt-files';
import { PromptRunner } from './prompt-runner';
import { PromptRunTasks } from './prompt-runs.maintenance';
import { PromptRunsRepository } from './prompt-runs.repository';
import { PromptsQueries, TEMPLATE_MODELS } from './prompts.queries';
import { PromptsService } from './prompts.service';
import { RunPromptTemplateTool } from './run-prompt-template.tool';

const exported = [PromptsService, PromptRunner];

/** Tells who decides about models which templates name them; all of templates that an application of operators needs. */
@Module({ imports: [InferenceModule], providers: [PromptsQueries], exports: [PromptsQueries] })
export class PromptModelsModule {
  constructor(users: ModelUsers) {
    users.register(TEMPLATE_MODELS);
  }
}

@Module({
  imports: [FilesModule, InferenceModule, PromptModelsModule],
  providers: [...exported, PromptFiles, PromptRunsRepository],
  exports: [PromptModelsModule, ...exported],
})
export class PromptsModule {}

/** The tool by which agents run templates, for a worker application. */
@Module({ imports: [PromptsModule, ToolsModule], providers: [RunPromptTemplateTool] })
export class PromptToolsModule {}

/** What is done to runs that nobody is at work on, or that are old, for a worker application. */
@Module({ providers: [PromptRunsRepository, PromptRunTasks] })
export class PromptsMaintenanceModule {}
