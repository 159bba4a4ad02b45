import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Organization } from '../orgs/orgs.entities';
import { DatedRow } from '../rows';

/** A file as what refers to it keeps and shows it. */
export interface FileReference {
  file_id: string;
  filename: string;
  media_type: string;
  size_bytes: number;
}

/** An uploaded file. Its bytes lie in the object storage under `storage_key`. */
@Entity('files')
@Unique('files_org_id', ['org_id', 'id'])
@Index('files_expiring', ['expires_at'], { where: 'expires_at IS NOT NULL' })
@Index('files_unattached', ['org_id', 'size_bytes'], { where: 'expires_at IS NOT NULL' })
export class StoredFile extends DatedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') filename: string;
  @Column('text') media_type: string;
  @Column('bigint') size_bytes: string;
  /** Hex; empty while the bytes are being stored, and the file is to be seen by nobody. */
  @Column('text') sha256: string;
  @Column('text') storage_key: string;
  @Column('uuid', { nullable: true }) created_by: string | null;
  /** When it is removed; null once something refers to it, `-infinity` once the removal has begun. */
  @Column('timestamptz', { nullable: true }) expires_at: Date | null;
  /** What it says, or its beginning, as it was read to Markdown; null where that was not asked for yet, or it says nothing that can be read. */
  @Column('text', { nullable: true }) text: string | null;
}

/** What refers to a file: who may open that may open the file. */
@Entity('file_links')
@Index('file_links_target', ['target_kind', 'target_id'])
@ForeignKey(() => StoredFile, ['org_id', 'file_id'], ['org_id', 'id'])
export class FileLink {
  @PrimaryColumn('uuid') file_id: string;
  @PrimaryColumn('text') target_kind: string;
  @PrimaryColumn('text') target_id: string;
  @Column('uuid') org_id: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}
