import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { FilesQueries, FilesService, FileTargets, type FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import type { Tenant, Tx } from '@aps/platform/database';
import { KnowledgeQueries } from './knowledge.queries';

const KIND = 'knowledge_source';
const locOf = (index: number) => ['file_refs', index, 'file_id'];

/** A file as a request names it. */
export interface FileRef {
  file_id: string;
  /** What the source is called. */
  filename?: string;
}

/** Ties files to sources: whoever may read their base, and that is every member, may open them. */
@Injectable()
export class SourceFiles {
  constructor(
    targets: FileTargets,
    private readonly files: FilesService,
    private readonly found: FilesQueries,
    queries: KnowledgeQueries,
  ) {
    targets.register(KIND, (db, scope, ids) => queries.existing(db, scope, ids));
  }

  /** @returns in the order of the request @throws DomainError 422 `unknown_reference` with each that the caller may not open, and each that is named twice */
  async named(scope: OrgScope, refs: readonly FileRef[]): Promise<FileReference[]> {
    const ids = refs.map(({ file_id }) => file_id);
    const msg = 'The file is named twice.';
    const problems = ids.flatMap((id, i) =>
      ids.indexOf(id) < i ? [{ loc: ['body', ...locOf(i)], msg, type: 'semantic.unknown_reference' }] : [],
    );
    if (problems.length) throw new DomainError('unknown_reference', msg, { problems });
    return this.found.references(scope, ids, locOf);
  }

  /** From here on the nth file lives as long as its source. @throws DomainError 422 `unknown_reference` where it has expired meanwhile */
  tie(tx: Tx, scope: OrgScope, sourceId: string, fileId: string, n: number): Promise<void> {
    return this.files.attach(tx, scope, { kind: KIND, id: sourceId }, [fileId], () => locOf(n));
  }

  /** Lets go of the files of sources, as far as they have such. */
  release(tx: Tx, { orgId }: Pick<Tenant, 'orgId'>, ids: string[]): Promise<void> {
    return this.files.unlink(tx, orgId, { kind: KIND, ids });
  }
}
