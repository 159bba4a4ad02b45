import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import type { Tx } from '@aps/platform/database';

/** Writes what happens in this domain into the audit log, in the transaction of the effect. */
@Injectable()
export class AuditTrail {
  constructor(private readonly audit: Audit) {}

  record(
    tx: Tx,
    scope: OrgScope,
    action: string,
    target: { kind: string; id: string },
    metadata: Record<string, unknown> = {},
  ): Promise<void> {
    const because = scope.actor.reason === null ? {} : { reason: scope.actor.reason };
    return this.audit.record(tx, {
      source: 'business',
      action,
      orgId: scope.orgId,
      actorId: scope.actor.userId,
      target,
      metadata: { ...metadata, ...because },
      requestId: scope.requestId,
    });
  }
}
