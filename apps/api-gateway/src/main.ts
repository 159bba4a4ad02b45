import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';
import { LANE_PREFIXES } from './lanes';

void runApp({ name: 'api-gateway', module: AppModule, http: { rawBodyPaths: LANE_PREFIXES }, redisRequired: false });
