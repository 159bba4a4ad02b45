export { ObjectStorage, type ByteRange, type StoredBytes } from './object-storage';
export { roomIn, type Room } from './disk-room';
export { DiskStorage } from './disk-storage';
export { S3Storage, type S3Options } from './s3-storage';
export { storageConfig } from './storage.config';
export { StorageModule } from './storage.module';
