import { Injectable } from '@nestjs/common';
import type { FileReference } from '@aps/entities';
import { FilesQueries, FilesService, FileTargets } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { OF_ORG } from './process-run.sql';

const KIND = 'process_run';

/** Ties files to runs: whoever may see the run, and that is every member, may open them. */
@Injectable()
export class RunFiles {
  constructor(
    targets: FileTargets,
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {
    targets.register(KIND, (db, scope, ids) => db.query(OF_ORG, [scope.orgId, ids]));
  }

  /** @throws DomainError 422 `unknown_reference` naming each that the caller may not see */
  references(scope: OrgScope, ids: string[]): Promise<FileReference[]> {
    return this.queries.references(scope, ids, (index) => ['attachments', index, 'file_id']);
  }

  /** Those that are gone stay gone. */
  async tie(tx: Tx, scope: OrgScope, runId: string, files: FileReference[]): Promise<void> {
    const ids = files.map(({ file_id }) => file_id);
    if (ids.length) await this.files.link(tx, scope, { kind: KIND, id: runId }, ids);
  }
}
