import { Module } from '@nestjs/common';
import { InternalTokenModule } from '@aps/platform/crypto';
import { adminLane } from './admin.lane';
import type { Lane } from './lane';
import { laneController } from './lane.controller';

/** Every lane of the gateway. */
export const LANES: readonly Lane[] = [adminLane];

/** Prefixes whose bodies the gateway must not parse: it streams them. */
export const LANE_PREFIXES: readonly string[] = LANES.map((lane) => lane.prefix);

@Module({ imports: [InternalTokenModule], controllers: LANES.map(laneController) })
export class LanesModule {}
