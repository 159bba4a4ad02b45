import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { DefinitionsModule } from '../definitions.module';
import { RunControlModule } from '../engine/engine.module';
import { ScheduleFiring } from './firing';
import { SchedulesQueries } from './schedules.queries';
import { SchedulesService } from './schedules.service';

/** Schedules as their organization sees them. */
@Module({ imports: [DefinitionsModule], providers: [SchedulesQueries, SchedulesService], exports: [SchedulesQueries, SchedulesService] })
export class SchedulesModule {}

/** What fires them, for one application. */
@Module({ imports: [ChatsModule, RunControlModule], providers: [ScheduleFiring], exports: [ScheduleFiring] })
export class ScheduleFiringModule {}
