import { Module } from '@nestjs/common';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { WebhooksController } from './webhooks.controller';

/** Where the payment provider delivers to. */
@Module({ imports: [DeliveriesModule], controllers: [WebhooksController] })
export class WebhooksHttpModule {}
