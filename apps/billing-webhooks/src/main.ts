import { runApp } from '@aps/platform/runtime';
import { AppModule } from './app.module';

// Without Redis it still takes deliveries in; they are applied when it is back.
void runApp({ name: 'billing-webhooks', module: AppModule, http: true, redisRequired: false });
