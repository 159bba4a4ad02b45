import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';

// Without Redis it still takes messages in; they are evaluated when it is back.
void runApp({ name: 'inbox-intake', module: AppModule, http: true, redisRequired: false });
