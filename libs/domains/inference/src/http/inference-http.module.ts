import { Module } from '@nestjs/common';
import { InferenceModule } from '../inference.module';
import { ModelDirectory } from './model-directory';
import { ModelsController } from './models.controller';
import { InferenceSettingsController } from './settings.controller';

/** Needs whoever binds `OrganizationPort` beside it. */
@Module({ imports: [InferenceModule], controllers: [ModelsController, InferenceSettingsController], providers: [ModelDirectory] })
export class InferenceHttpModule {}
