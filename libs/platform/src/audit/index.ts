import { Global, Injectable, Module } from '@nestjs/common';
import type { Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { INSERT } from './audit.sql';

/** One line of the audit log. */
export interface AuditEntry {
  /** `admin` for what operators do through the admin surface, `business` for what happens inside an organization. */
  source: 'admin' | 'business';
  /** `<thing>.<verb>`, e.g. `member.removed`. */
  action: string;
  /** Null for what belongs to no organization. */
  orgId: string | null;
  /** Null when the system acts. */
  actorId: string | null;
  target: { kind: string; id: string | null };
  /** Facts a reader needs to understand the line. Never secrets. */
  metadata?: Record<string, unknown>;
  requestId?: string;
}

/** Writes the audit log, always in the transaction of the effect: what happened is on record, and what did not is not. */
@Injectable()
export class Audit {
  async record(tx: Db, entry: AuditEntry): Promise<void> {
    await tx.execute(INSERT, [
      uuidv7(),
      entry.source,
      entry.action,
      entry.orgId,
      entry.actorId,
      entry.target.kind,
      entry.target.id,
      JSON.stringify(entry.metadata ?? {}),
      entry.requestId ?? null,
    ]);
  }
}

@Global()
@Module({ providers: [Audit], exports: [Audit] })
export class AuditModule {}
