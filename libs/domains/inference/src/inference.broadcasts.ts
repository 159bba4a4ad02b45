import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { BroadcastName, Broadcasts } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { InferenceSettings } from './inference.settings';

/** Hears that settings, routes, keys or models changed, in every replica. */
@Controller()
export class InferenceBroadcasts {
  constructor(private readonly settings: InferenceSettings) {
    // Not as decorators: the channel's name holds a setting, and classes are made before the configuration is loaded.
    for (const name of ['settings.changed', 'route.changed'] satisfies BroadcastName[]) {
      const method = name === 'settings.changed' ? 'onSettings' : 'onRoute';
      OnBroadcast(name)(InferenceBroadcasts.prototype, method, Object.getOwnPropertyDescriptor(InferenceBroadcasts.prototype, method) as TypedPropertyDescriptor<unknown>);
    }
  }

  onSettings(@Payload() message: Broadcasts['settings.changed']): void {
    this.settings.drop(message.org_id);
  }

  onRoute(@Payload() message: Broadcasts['route.changed']): void {
    this.settings.drop(message.org_id);
  }
}
