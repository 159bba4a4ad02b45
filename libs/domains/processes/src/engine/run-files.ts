import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { attachmentOf, FilesQueries, FilesService, FileTargets, type TargetReader } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import type { Db, Tx } from '@aps/platform/database';
import { OF_ORG } from './process-run.sql';
import type { RunFile } from './envelope';

const KIND = 'process_run';

/** Ties files to runs: whoever may see the run, and that is every member, may open them. */
@Injectable()
export class RunFiles implements OnModuleInit, TargetReader {
  constructor(
    private readonly targets: FileTargets,
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {}

  onModuleInit(): void {
    this.targets.register(KIND, this);
  }

  async openTo(db: Db, scope: OrgScope, ids: string[]): Promise<string[]> {
    return (await db.query(OF_ORG, [scope.orgId, ids])).map(({ id }) => id);
  }

  /** @throws DomainError 422 `unknown_reference` naming each that the caller may not see */
  async references(scope: OrgScope, ids: string[]): Promise<RunFile[]> {
    if (ids.length === 0) return [];
    const found = new Map((await this.queries.visible(scope, ids)).map((file) => [file.id, attachmentOf(file)]));
    const msg = 'There is no such file.';
    const problems = ids.flatMap((id, i) =>
      found.has(id) ? [] : [{ loc: ['body', 'attachments', i, 'file_id'], msg, type: 'semantic.unknown_reference' }],
    );
    if (problems.length) throw new DomainError('unknown_reference', msg, { problems });
    return ids.map((id) => found.get(id)!);
  }

  /** Those that are gone stay gone. */
  async tie(tx: Tx, scope: OrgScope, runId: string, files: RunFile[]): Promise<void> {
    const ids = files.map(({ file_id }) => file_id);
    if (ids.length) await this.files.link(tx, scope, { kind: KIND, id: runId }, ids);
  }
}
