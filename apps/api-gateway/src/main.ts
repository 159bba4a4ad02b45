import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';
import { PROXIED_PREFIXES } from './proxy';

void runApp({ name: 'api-gateway', module: AppModule, http: { rawBodyPaths: PROXIED_PREFIXES }, redisRequired: false });
