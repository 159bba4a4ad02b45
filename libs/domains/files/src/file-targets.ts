import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

/** Tells which of its things a caller may open. */
export interface TargetReader {
  /** @returns those of the ids that the caller may open */
  openTo(db: Db, scope: OrgScope, ids: string[]): Promise<string[]>;
}

/** Where domains above say who may open what refers to files. A kind that nobody registers opens no file. */
@Injectable()
export class FileTargets {
  private readonly readers = new Map<string, TargetReader>();

  register(kind: string, reader: TargetReader): void {
    this.readers.set(kind, reader);
  }

  async openTo(db: Db, scope: OrgScope, kind: string, ids: string[]): Promise<string[]> {
    return (await this.readers.get(kind)?.openTo(db, scope, ids)) ?? [];
  }
}
