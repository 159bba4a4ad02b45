import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';

void runApp({ name: 'admin-api', module: AppModule, http: true, redisRequired: false });
