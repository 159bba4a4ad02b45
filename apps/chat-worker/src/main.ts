import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';

void runApp({ name: 'chat-worker', module: AppModule, redisRequired: true });
