import { Module } from '@nestjs/common';
import { PacksService } from './packs.service';
import { PlansQueries } from './plans.queries';
import { PlansRepository } from './plans.repository';
import { PlansService } from './plans.service';

const exported = [PacksService, PlansQueries, PlansService];

/** What operators do about plans and packs. */
@Module({ providers: [...exported, PlansRepository], exports: exported })
export class PlansModule {}
