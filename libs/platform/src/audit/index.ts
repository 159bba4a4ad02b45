import { Global, Injectable, Module } from '@nestjs/common';
import type { Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { INSERT } from './audit.sql';

/** Who did something. */
export interface Author {
  readonly kind: 'user' | 'operator' | 'system';
  /** Null for the system. */
  readonly userId: string | null;
  /** Why the system acts; null for people. */
  readonly reason: string | null;
  readonly requestId?: string;
}

/** Who did it, and in which organization; an author alone where none is concerned. A scope is one. */
export type By = Author | { readonly orgId: string | null; readonly actor: Author };

/** Writes the audit log, always in the transaction of the effect: what happened is on record, and what did not is not. */
@Injectable()
export class Audit {
  /**
   * @param action `<thing>.<verb>`, e.g. `chat.deleted`
   * @param target the id of the thing, null where there is but one; where something else was acted on, its kind, too
   * @param facts what a reader needs to understand the line; never secrets
   */
  async record(
    tx: Db,
    by: By,
    action: string,
    target: string | null | { kind: string; id: string | null },
    facts: Record<string, unknown> = {},
  ): Promise<void> {
    const [orgId, author] = 'actor' in by ? [by.orgId, by.actor] : [null, by];
    const { kind, id } = target && typeof target === 'object' ? target : { kind: action.split('.')[0], id: target };
    await tx.execute(INSERT, [
      uuidv7(),
      author.kind === 'operator' ? 'admin' : 'business',
      action,
      orgId,
      author.userId,
      kind,
      id,
      JSON.stringify(author.reason === null ? facts : { ...facts, reason: author.reason }),
      author.requestId ?? null,
    ]);
  }
}

@Global()
@Module({ providers: [Audit], exports: [Audit] })
export class AuditModule {}
