import { Module } from '@nestjs/common';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { WebhooksController } from './webhooks.controller';

/** Prefixes of paths whose bodies are signed: an app that serves them must leave these the bytes that came. */
export const SIGNED_PREFIXES: readonly string[] = ['/api/webhooks'];

/** Where the payment provider delivers to. */
@Module({ imports: [DeliveriesModule], controllers: [WebhooksController] })
export class WebhooksHttpModule {}
