import { Module } from '@nestjs/common';
import { RolloutsModule } from '../rollouts.module';
import { ExperimentsController } from './experiments.controller';

@Module({ imports: [RolloutsModule], controllers: [ExperimentsController] })
export class RolloutsHttpModule {}
