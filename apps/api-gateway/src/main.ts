import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';

void runApp({ name: 'api-gateway', module: AppModule, http: true, redisRequired: false });
