import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

/** @returns those of the slugs that there is something of */
type Existing = (db: Db, scope: OrgScope, slugs: readonly string[]) => Promise<Set<string>>;

/** What tool scopes name and domains above this one own; those register here. */
@Injectable()
export class ScopeOwners {
  private readonly owners = new Map<string, Existing>();

  register(kind: 'process', existing: Existing): void {
    this.owners.set(kind, existing);
  }

  /** @returns null where nobody in this process owns such things, and their names can only be taken as they are */
  async existing(db: Db, scope: OrgScope, kind: 'process', slugs: readonly string[]): Promise<Set<string> | null> {
    const existing = this.owners.get(kind);
    if (!existing) return null;
    return slugs.length ? existing(db, scope, slugs) : new Set();
  }
}
