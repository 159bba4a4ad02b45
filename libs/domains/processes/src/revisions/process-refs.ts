import { Injectable } from '@nestjs/common';
import type { Db } from '@aps/platform/database';
import type { Definition } from '../definition';
import { Definitions } from './definitions';
import { DEPLOYED, LIVE } from './definitions.sql';

/** What a run of a process runs, as it is kept with the run. */
export interface DeployedProcess {
  process_id: string;
  revision_id: string;
  revision_version: number;
  revision_hash: string;
  definition: Definition;
}

/** Finds processes as steps and callers name them. */
@Injectable()
export class ProcessRefs {
  constructor(private readonly definitions: Definitions) {}

  /** By id or slug; within a transaction the process is not deleted before that ends. @returns null where there is none, or nothing of it is deployed */
  async deployed(db: Db, orgId: string, ref: string): Promise<DeployedProcess | null> {
    const [row] = await db.query(DEPLOYED, [orgId, ref]);
    return row ? { ...row, definition: await this.definitions.of(orgId, row.revision_id, db) } : null;
  }

  /** Whether there is one, as of `deployed`, without reading it. */
  async isDeployed(db: Db, orgId: string, ref: string): Promise<boolean> {
    return (await db.query(DEPLOYED, [orgId, ref])).length > 0;
  }

  /** Whether there is a live one of this id; it is not deleted before the transaction ends. */
  async exists(db: Db, orgId: string, id: string): Promise<boolean> {
    return (await db.query(LIVE, [orgId, id])).length > 0;
  }
}
