import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { PlanEntitlements } from './plan-entitlements';

/** Hears in every replica that a plan or a subscription changed. */
@Controller()
export class PlanBroadcasts {
  constructor(private readonly entitlements: PlanEntitlements) {}

  @OnBroadcast('settings.changed')
  onSettings(@Payload() { org_id }: Broadcasts['settings.changed']): void {
    this.entitlements.drop(org_id);
  }
}
