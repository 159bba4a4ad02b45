import { Module } from '@nestjs/common';
import { PromptsModule } from '../prompts.module';
import { PromptTemplatesController } from './prompt-templates.controller';

@Module({ imports: [PromptsModule], controllers: [PromptTemplatesController] })
export class PromptsHttpModule {}
