import { Check, Column, DeleteDateColumn, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Connection } from '../connections/connections.entities';
import { StoredFile } from '../files/files.entities';
import { Organization } from '../orgs/orgs.entities';
import { DurableRun, type RunWait } from '../platform/durable-run.entity';
import { Project } from '../projects/projects.entities';
import { NamedRow } from '../orgs/owned-row.entity';
import { OrgRow } from '../rows';

export const SOURCE_KINDS = ['file', 'text', 'url', 'synced', 'document'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What is done to a source, in this order. */
export const SOURCE_STAGES = ['fetch', 'extract', 'chunk', 'embed', 'store'] as const;
export type SourceStage = (typeof SOURCE_STAGES)[number];

/** Sources that are searched together. */
@Entity('knowledge_bases')
@Unique('knowledge_bases_org_id', ['org_id', 'id'])
@Index('knowledge_bases_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('knowledge_bases_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('knowledge_bases_project', ['org_id', 'project_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
export class KnowledgeBase extends NamedRow {
  @Column('uuid', { nullable: true }) project_id: string | null;
  /** The space of the vectors that searches use; null without any. */
  @Column('text', { nullable: true }) embedding_model: string | null;
}

/**
 * A collection of a connection that a base has sources of, and the run that makes these what the collection has: a new one each time.
 */
@Entity('knowledge_syncs')
@Unique('knowledge_syncs_org_id', ['org_id', 'id'])
@Index('knowledge_syncs_collection', ['kb_id', 'connection_id', 'collection_id'], { unique: true, where: 'deleted_at IS NULL' })
@Index('knowledge_syncs_base', ['kb_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('knowledge_syncs_connection', ['connection_id'], { where: 'deleted_at IS NULL' })
@Index('knowledge_syncs_due', ['next_sync_at'], { where: 'deleted_at IS NULL AND finished_at IS NOT NULL' })
@Index('knowledge_syncs_deleted', ['id'], { where: 'deleted_at IS NOT NULL' })
@Index('knowledge_syncs_owned', ['org_id'], { where: 'lease_owner IS NOT NULL' })
@Index('knowledge_syncs_waiting', ['org_id'], { where: `status = 'waiting' AND finished_at IS NULL` })
@Index('knowledge_syncs_parked', ['org_id', 'dispatched_at'], { where: 'parked' })
@ForeignKey(() => KnowledgeBase, ['org_id', 'kb_id'], ['org_id', 'id'])
@ForeignKey(() => Connection, ['org_id', 'connection_id'], ['org_id', 'id'])
@Check('knowledge_syncs_status', `status IN ('queued', 'running', 'waiting', 'ok', 'failed')`)
@Check('knowledge_syncs_over', `(status IN ('ok', 'failed')) = (finished_at IS NOT NULL)`)
export class KnowledgeSync extends DurableRun<'queued' | 'running' | 'waiting' | 'ok' | 'failed', RunWait> {
  @Column('uuid') kb_id: string;
  @Column('uuid') connection_id: string;
  /** On whose behalf a private connection is asked; null: on nobody's, so it is asked only as long as it is the organization's. */
  @Column('uuid', { nullable: true }) principal_id: string | null;
  @Column('text') collection_id: string;
  @Column('text') collection_name: string;
  /** Which run this is, from 1: what it has seen of the collection bears its number. */
  @Column('int', { default: 1 }) round: number;
  /** What the newest run came to so far. */
  @Column('int', { default: 0 }) added: number;
  @Column('int', { default: 0 }) updated: number;
  @Column('int', { default: 0 }) deleted: number;
  @Column('int', { default: 0 }) unchanged: number;
  /** When the base had last what the collection has. */
  @Column('timestamptz', { nullable: true }) last_sync_at: Date | null;
  @Column('timestamptz', { nullable: true }) next_sync_at: Date | null;
  @Column('uuid', { nullable: true }) created_by: string | null;
  /** What came by it is being deleted. */
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/**
 * Something that is indexed, and the run that does so: a new one each time that what it says may have changed. `deliveries` of one that is over stays what it
 * was.
 */
@Entity('knowledge_sources')
@Unique('knowledge_sources_org_id', ['org_id', 'id'])
@Index('knowledge_sources_base', ['kb_id', 'created_at', 'id'])
@Index('knowledge_sources_tree', ['kb_id', 'position', 'created_at', 'id'], { where: `kind = 'document'` })
@Index('knowledge_sources_parent', ['parent_id', 'position'], { where: 'parent_id IS NOT NULL' })
@Index('knowledge_sources_synced', ['sync_config_id', 'remote_id'], { unique: true, where: 'sync_config_id IS NOT NULL' })
@Index('knowledge_sources_embedded', ['embedded_as', 'org_id', 'embed_at'], { where: 'chunk_count > 0' })
@Index('knowledge_sources_owned', ['org_id'], { where: 'lease_owner IS NOT NULL' })
@Index('knowledge_sources_waiting', ['org_id'], { where: `status = 'waiting' AND finished_at IS NULL` })
@Index('knowledge_sources_parked', ['org_id', 'dispatched_at'], { where: 'parked' })
@ForeignKey(() => KnowledgeBase, ['org_id', 'kb_id'], ['org_id', 'id'])
@ForeignKey(() => KnowledgeSource, ['org_id', 'parent_id'], ['org_id', 'id'])
@ForeignKey(() => StoredFile, ['org_id', 'file_id'], ['org_id', 'id'])
@ForeignKey(() => KnowledgeSync, ['org_id', 'sync_config_id'], ['org_id', 'id'])
@Check('knowledge_sources_of_sync', `(kind = 'synced') = (sync_config_id IS NOT NULL) AND (kind = 'synced') = (remote_id IS NOT NULL)`)
@Check('knowledge_sources_kind', `kind IN ('file', 'text', 'url', 'synced', 'document')`)
@Check('knowledge_sources_status', `status IN ('queued', 'running', 'waiting', 'ready', 'failed')`)
@Check('knowledge_sources_over', `(status IN ('ready', 'failed')) = (finished_at IS NOT NULL)`)
@Check('knowledge_sources_document', `(kind = 'document') = (position IS NOT NULL) AND (kind = 'document') = (version IS NOT NULL)`)
export class KnowledgeSource extends DurableRun<'queued' | 'running' | 'waiting' | 'ready' | 'failed', RunWait> {
  @Column('uuid') kb_id: string;
  @Column('text') kind: SourceKind;
  @Column('text') title: string;
  declare error: { code: string; message: string; stage: SourceStage; retryable: boolean } | null;
  /** It is to be indexed once more when the run that is under way is over. */
  @Column('boolean', { default: false }) again: boolean;
  /** That can be found; those of an earlier run until a later one has brought its own. */
  @Column('int', { default: 0 }) chunk_count: number;
  @Column('bigint', { nullable: true }) size_bytes: string | null;
  @Column('text', { nullable: true }) media_type: string | null;
  @Column('text', { nullable: true }) url: string | null;
  @Column('uuid', { nullable: true }) file_id: string | null;
  /** Of what a connection has: how it is called there, and by which synchronisation it came. */
  @Column('uuid', { nullable: true }) sync_config_id: string | null;
  @Column('text', { nullable: true }) remote_id: string | null;
  /** SHA-256 of what was last read there, hexadecimal; and what its server says of when it was changed. */
  @Column('text', { nullable: true }) remote_hash: string | null;
  @Column('text', { nullable: true }) remote_modified: string | null;
  /** The round of its synchronisation that has seen it last. */
  @Column('int', { nullable: true }) sync_round: number | null;
  /** The page that a document stands below. */
  @Column('uuid', { nullable: true }) parent_id: string | null;
  /** Of a document: among its siblings, the lowest first. */
  @Column('float8', { nullable: true }) position: number | null;
  /** Of a document: what it says is another one with each. */
  @Column('int', { nullable: true }) version: number | null;
  @Column('timestamptz', { nullable: true }) indexed_at: Date | null;
  /** The space of the vectors that all its pieces have; empty where they have not. */
  @Column('text', { default: '' }) embedded_as: string;
  /** Before that nobody takes it up to give it vectors; whoever has knows by it that nobody else did since, and that its pieces are the same. */
  @Column('timestamptz', { default: () => 'now()' }) embed_at: Date;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @Column('uuid', { nullable: true }) updated_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** What sources say. Apart from them, since lists do not show it. */
@Entity('knowledge_contents')
@ForeignKey(() => KnowledgeSource, ['org_id', 'source_id'], ['org_id', 'id'], { onDelete: 'CASCADE' })
export class KnowledgeContent {
  @PrimaryColumn('uuid') source_id: string;
  @Column('uuid') org_id: string;
  /** As it was written, of a text or a document. */
  @Column('text', { nullable: true }) written: string | null;
  /** As it was read from the source when its chunks were made, whose places are in it. */
  @Column('text', { nullable: true }) extracted: string | null;
}

/** A piece of a source that is found by itself. New ones stand beside the old ones, and hold nothing of their source, until both are exchanged at the end of a transaction. */
@Entity('knowledge_chunks')
@Unique('knowledge_chunks_org_id', ['org_id', 'id'])
@Unique('knowledge_chunks_position', ['source_id', 'position'], { deferrable: 'INITIALLY DEFERRED' })
@ForeignKey(() => KnowledgeSource, ['org_id', 'source_id'], ['org_id', 'id'], { onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })
export class KnowledgeChunk extends OrgRow {
  @Column('uuid') kb_id: string;
  @Column('uuid') source_id: string;
  @Column('int') position: number;
  @Column('text') content: string;
  @Column('text', { array: true }) heading_path: string[];
  /** In what was read from the source, code points; the end is exclusive. */
  @Column('int') char_start: number;
  @Column('int') char_end: number;
  /** From 1; null where the source has no pages. */
  @Column('int', { nullable: true }) page: number | null;
  @Column('int') token_count: number;
  /** Its words, with those of its title and headings; and what it belongs to, by which an index finds that first. */
  @Column('tsvector') words: string;
}

/** What a piece means, as a model says. A base is searched by those of one model; of a second one they come until it has all, and then those of the first go. */
@Entity('knowledge_vectors')
@Index('knowledge_vectors_base', ['kb_id', 'model'])
@ForeignKey(() => KnowledgeChunk, ['org_id', 'chunk_id'], ['org_id', 'id'], { onDelete: 'CASCADE' })
export class KnowledgeVector {
  @PrimaryColumn('uuid') chunk_id: string;
  /** Those of the same space can be compared. */
  @PrimaryColumn('text') model: string;
  @Column('uuid') org_id: string;
  @Column('uuid') kb_id: string;
  /** The signs of its numbers, by which near ones are found. */
  @Column('bit varying') bits: string;
  /** Of length 1, in single precision, the lowest byte first. */
  @Column('bytea') vector: Buffer;
}

/** What the platform has learnt of an organization's pieces, where no model is named; vectors by it are in the space `own/<version>`. The newest counts. */
@Entity('knowledge_own_models')
export class KnowledgeOwnModel {
  @ForeignKey(() => Organization) @PrimaryColumn('uuid') org_id: string;
  /** Tells one that was learnt anew from the one before, which stays as long as anybody searches by it. */
  @PrimaryColumn('uuid') version: string;
  /** How many pieces the organization had then. */
  @Column('int') pieces: number;
  @Column('bytea') model: Buffer;
  @Column('timestamptz', { default: () => 'now()' }) learnt_at: Date;
}

/** How many sources and chunks a base has; see {@link KNOWLEDGE_TALLY}. */
@Entity('knowledge_tallies')
@Index('knowledge_tallies_base', ['kb_id'])
@Index('knowledge_tallies_appended', ['folded'], { where: 'NOT folded' })
export class KnowledgeTally {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') org_id: string;
  @Column('uuid') kb_id: string;
  /** As it is shown. */
  @Column('text') state: string;
  @Column('int') sources: number;
  @Column('int') chunks: number;
  @Column('boolean', { default: false }) folded: boolean;
}
