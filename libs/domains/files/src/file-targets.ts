import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

/** @returns those of the things with these ids that the caller may open */
type TargetReader = (db: Db, scope: OrgScope, ids: string[]) => Promise<{ id: string }[]>;

/** Where domains above say who may open what refers to files. A kind that nobody registers opens no file. */
@Injectable()
export class FileTargets {
  private readonly readers = new Map<string, TargetReader>();

  register(kind: string, reader: TargetReader): void {
    this.readers.set(kind, reader);
  }

  async openTo(db: Db, scope: OrgScope, kind: string, ids: string[]): Promise<Set<string>> {
    const open = await this.readers.get(kind)?.(db, scope, ids);
    return new Set(open?.map(({ id }) => id));
  }
}
