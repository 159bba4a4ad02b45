import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';

void runApp({ name: 'process-engine', module: AppModule, redisRequired: true });
