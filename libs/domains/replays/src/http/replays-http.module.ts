import { Module } from '@nestjs/common';
import { ReplaysModule } from '../replays.module';
import { DraftChecksController } from './draft-checks.controller';
import { SimulationsController } from './simulations.controller';

@Module({ imports: [ReplaysModule], controllers: [DraftChecksController, SimulationsController] })
export class ReplaysHttpModule {}
