import { Module } from '@nestjs/common';
import { InferenceModule } from '@aps/inference';
import { PromptsQueries } from './prompts.queries';
import { PromptsService } from './prompts.service';

const exported = [PromptsQueries, PromptsService];

@Module({ imports: [InferenceModule], providers: exported, exports: exported })
export class PromptsModule {}
