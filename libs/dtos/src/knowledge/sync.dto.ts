import { DateTimeField, EnumField, IdField, IntField, NestedField, StringField, UuidField } from '@aps/platform/http';

const STATES = ['PENDING', 'SYNCING', 'OK', 'FAILED', 'PAUSED'] as const;
const PROBLEMS = [
  'server_failed',
  'too_many_items',
  'timeout',
  'worker_lost',
  'internal',
  'connection_gone',
  'connection_disabled',
  'connection_expired',
] as const;
const MAX_COLLECTION = 2_048;

const CollectionId = () =>
  StringField({ min: 1, max: MAX_COLLECTION, description: 'What a connection calls it.', example: 'notes://demo' });

export class CreateSyncConfigRequest {
  @IdField({ min: 1, max: 64, description: 'The connection, by its `id` or its `integration_id`.' }) integration_id: string;
  @CollectionId() collection_id: string;
  @StringField({ trim: true, min: 1, max: 500, description: 'What people call it.', example: 'Notes' }) collection_name: string;
}

export class SyncStats {
  @IntField({ description: 'Sources that are new.', example: 2 }) added: number;
  @IntField({ description: 'Sources that are indexed anew.', example: 1 }) updated: number;
  @IntField({ description: 'Sources that the collection has no more.', example: 0 }) deleted: number;
  @IntField({ description: 'Sources that read as before.', example: 40 }) unchanged: number;
}

export class SyncConfigResponse {
  @UuidField({ description: 'The synchronisation.' }) id: string;
  @UuidField({ description: 'The base that has sources of it.' }) kb_id: string;
  @UuidField({ description: 'The connection.' }) integration_id: string;
  @CollectionId() collection_id: string;
  @StringField({ description: 'What people call it.', example: 'Notes' }) collection_name: string;
  @EnumField(STATES, {
    name: 'SyncConfigStatus',
    description:
      'How it stands. `PAUSED` while its connection is not asked: what came by it stays, and it goes on when the connection is back.',
    example: 'OK',
  })
  status: string;
  @DateTimeField({ nullable: true, description: 'When the base had last all that the collection has.' }) last_sync_at: string | null;
  @DateTimeField({ nullable: true, description: 'When it is looked at next; null before the first time.' }) next_sync_at: string | null;
  @EnumField(PROBLEMS, { name: 'SyncConfigError', nullable: true, description: 'Why it failed, or is paused.' }) last_error: string | null;
  @NestedField(() => SyncStats, { description: 'What the newest look came to so far.' }) stats: SyncStats;
  @DateTimeField({ description: 'When it was set up.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export class RemoteCollectionResponse {
  @CollectionId() id: string;
  @StringField({ description: 'What its server calls it.', example: 'notes://demo' }) name: string;
  @EnumField(['resources'], { name: 'RemoteCollectionKind', description: 'What it is made of.', example: 'resources' }) kind: string;
  @StringField({ nullable: true, description: 'The collection that it is part of.' }) parent_id: string | null;
  @IntField({ description: 'How much is in it.', example: 43 }) item_count: number;
}
