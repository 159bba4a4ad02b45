import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { PrincipalStore } from './principal.store';

/** Hears whose access has ended, in every replica. */
@Controller()
export class AccessBroadcasts {
  constructor(private readonly store: PrincipalStore) {}

  @OnBroadcast('access.changed')
  onAccess(@Payload() message: Broadcasts['access.changed']): void {
    this.store.drop(message);
  }
}
