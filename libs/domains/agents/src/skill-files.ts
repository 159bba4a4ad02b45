import { Injectable } from '@nestjs/common';
import { Skill } from '@aps/entities';
import { FilesQueries, FilesService, FileTargets, type FileRow } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { ModelFiles, type ModelFile } from '@aps/inference';
import { OrgTable, type Tx } from '@aps/platform/database';
import { In } from 'typeorm';

const KIND = 'skill';
/** Of a file, for who reads it. */
const MAX_CHARACTERS = 1_000_000;
const LOC_OF = (index: number) => ['files', index, 'file_id'];

/** Ties files to skills: whoever may read the skill, and that is every member, may open them. */
@Injectable()
export class SkillFiles {
  private readonly skills = new OrgTable(Skill);

  constructor(
    targets: FileTargets,
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {
    targets.register(KIND, (db, scope, ids) => this.skills.list(db, scope, { id: In(ids) }, {}));
  }

  /** Those that are there, by what they are called in their skill; of two of one name the first. */
  async named(scope: OrgScope, files: Skill['files']): Promise<Map<string, FileRow>> {
    const rows = new Map((await this.queries.visible(scope, idsOf(files))).map((row) => [row.id, row]));
    const named = new Map<string, FileRow>();
    for (const { file_id, filename } of files) {
      const row = rows.get(file_id);
      const name = filename ?? row?.filename;
      if (row && name !== undefined && !named.has(name)) named.set(name, row);
    }
    return named;
  }

  /** The text of one, as far as it has any. Never inside a transaction. */
  read(file: FileRow): Promise<Pick<ModelFile, 'content' | 'lacks'>> {
    const reader = new ModelFiles({ vision: false, mode: 'text', characters: MAX_CHARACTERS, charactersOfOne: MAX_CHARACTERS });
    return reader.read({ ...file, read: (length) => this.queries.head(file, length) });
  }

  /** @throws DomainError 422 `unknown_reference` naming each that the caller may not see */
  async check(scope: OrgScope, files: Skill['files']): Promise<void> {
    await this.queries.references(scope, idsOf(files), LOC_OF);
  }

  /**
   * Has a skill refer to these files, and to no others any more.
   *
   * @throws DomainError 422 for files that have expired since they were checked
   */
  async tie(tx: Tx, scope: OrgScope, id: string, files: Skill['files']): Promise<void> {
    const ids = idsOf(files);
    if (ids.length) await this.files.attach(tx, scope, { kind: KIND, id }, ids, LOC_OF);
    await this.release(tx, scope, id, ids);
  }

  /** Has a skill refer to none of its files any more, but those that are kept. */
  release(tx: Tx, scope: OrgScope, id: string, kept: string[] = []): Promise<void> {
    return this.files.unlink(tx, scope.orgId, { kind: KIND, ids: [id] }, kept);
  }
}

const idsOf = (files: Skill['files']): string[] => files.map(({ file_id }) => file_id);
