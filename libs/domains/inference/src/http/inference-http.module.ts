import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module';
import { InferenceModule } from '../inference.module';
import { ModelDirectory } from './model-directory';
import { ModelsController } from './models.controller';
import { OwnRoutesController } from './own-routes.controller';
import { InferenceSettingsController } from './settings.controller';

/** Needs whoever binds `OrganizationPort` beside it. */
@Module({
  imports: [GovernanceModule, InferenceModule],
  controllers: [ModelsController, OwnRoutesController, InferenceSettingsController],
  providers: [ModelDirectory],
})
export class InferenceHttpModule {}
