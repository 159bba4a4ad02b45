import { Module } from '@nestjs/common';
import { ConfigError } from '@aps/platform/config';
import { DiskStorage } from './disk-storage';
import { ObjectStorage } from './object-storage';
import { S3Storage } from './s3-storage';
import { storageConfig } from './storage.config';

/** @throws ConfigError for half of a key */
export function configuredStorage(): ObjectStorage {
  const { dir, bucket, accessKeyId, secretAccessKey, ...s3 } = storageConfig.value;
  if (!bucket) return new DiskStorage(dir);
  if (!accessKeyId !== !secretAccessKey) throw new ConfigError(['S3_ACCESS_KEY_ID: set it together with S3_SECRET_ACCESS_KEY, or neither']);
  return new S3Storage({ bucket, ...s3, ...(accessKeyId && secretAccessKey && { credentials: { accessKeyId, secretAccessKey } }) });
}

/** Gives an application the object storage that its settings name. */
@Module({ providers: [{ provide: ObjectStorage, useFactory: configuredStorage }], exports: [ObjectStorage] })
export class StorageModule {}
