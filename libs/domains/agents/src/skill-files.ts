import { Injectable } from '@nestjs/common';
import { Skill } from '@aps/entities';
import { FilesQueries, FilesService, FileTargets, type TargetReader } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { OrgTable, type Db, type Tx } from '@aps/platform/database';
import { In } from 'typeorm';

const KIND = 'skill';
const LOC_OF = (index: number) => ['files', index, 'file_id'];

/** Ties files to skills: whoever may read the skill, and that is every member, may open them. */
@Injectable()
export class SkillFiles implements TargetReader {
  private readonly skills = new OrgTable(Skill);

  constructor(
    targets: FileTargets,
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {
    targets.register(KIND, this);
  }

  async openTo(db: Db, scope: OrgScope, ids: string[]): Promise<string[]> {
    return (await this.skills.list(db, scope, { id: In(ids) }, {})).map(({ id }) => id);
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
