import { Module } from '@nestjs/common';
import { DefinitionsModule } from '../definitions.module';
import { RunControlModule } from '../engine/engine.module';
import { RunControl, RunReviews, RunStarts } from '../processes.ports';
import { RunReviewsService } from '../reviews/run-reviews.service';
import { RunControlService } from './run-control.service';
import { RunStartsService } from './run-starts.service';

/** What people do with runs. */
@Module({
  imports: [DefinitionsModule, RunControlModule],
  providers: [
    RunControlService,
    RunReviewsService,
    RunStartsService,
    { provide: RunReviews, useExisting: RunReviewsService },
    { provide: RunControl, useExisting: RunControlService },
    { provide: RunStarts, useExisting: RunStartsService },
  ],
  exports: [RunControl, RunReviews, RunStarts, RunControlModule],
})
export class RunServicesModule {}
