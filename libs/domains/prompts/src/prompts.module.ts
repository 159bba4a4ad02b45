import { Module } from '@nestjs/common';
import { FilesModule } from '@aps/files';
import { InferenceModule } from '@aps/inference';
import { PromptFiles } from './prompt-files';
import { PromptRunner } from './prompt-runner';
import { LostPromptRuns } from './prompt-runs.maintenance';
import { PromptRunsRepository } from './prompt-runs.repository';
import { PromptsQueries } from './prompts.queries';
import { PromptsService } from './prompts.service';

const exported = [PromptsQueries, PromptsService, PromptRunner];

@Module({ imports: [FilesModule, InferenceModule], providers: [...exported, PromptFiles, PromptRunsRepository], exports: exported })
export class PromptsModule {}

/** What is done to runs that nobody is at work on, for a worker application. */
@Module({ providers: [PromptRunsRepository, LostPromptRuns] })
export class PromptsMaintenanceModule {}
