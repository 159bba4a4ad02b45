import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { InferenceSettings } from './inference.settings';

/** Hears that settings, routes, keys or models changed, in every replica. */
@Controller()
export class InferenceBroadcasts {
  constructor(private readonly settings: InferenceSettings) {}

  @OnBroadcast('settings.changed')
  onSettings(@Payload() message: Broadcasts['settings.changed']): void {
    this.settings.drop(message.org_id);
  }

  @OnBroadcast('route.changed')
  onRoute(@Payload() message: Broadcasts['route.changed']): void {
    this.settings.drop(message.org_id);
  }
}
