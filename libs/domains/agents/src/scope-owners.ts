import { Injectable } from '@nestjs/common';
import type { Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

/** Something that a tool scope can name. */
export type NamedScope = Pick<Agent, 'slug' | 'name'>;

/** A domain above this one that owns what scopes of a kind name. */
export interface ScopeOwner {
  /** @returns those of the slugs that there is something of */
  existing(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<Set<string>>;
  /** All that there is, by slug, but no more than `limit`. */
  named(db: Db, scope: OrgScope, limit: number): Promise<NamedScope[]>;
}

/** What tool scopes name and domains above this one own; those register here. */
@Injectable()
export class ScopeOwners {
  private readonly owners = new Map<string, ScopeOwner>();

  register(kind: 'process', owner: ScopeOwner): void {
    this.owners.set(kind, owner);
  }

  /** @returns null where nobody in this process owns such things, and their names can only be taken as they are */
  async existing(db: Db, scope: OrgScope, kind: 'process', slugs: readonly string[]): Promise<Set<string> | null> {
    const owner = this.owners.get(kind);
    if (!owner) return null;
    return slugs.length ? owner.existing(db, scope, slugs) : new Set();
  }

  /** What can be named, by slug. */
  async named(db: Db, scope: OrgScope, kind: 'process', limit: number): Promise<NamedScope[]> {
    return (await this.owners.get(kind)?.named(db, scope, limit)) ?? [];
  }
}
