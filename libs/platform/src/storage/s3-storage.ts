import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { ObjectStorage, type ByteRange, type StoredBytes } from './object-storage';

export interface S3Options {
  bucket: string;
  region: string;
  /** Left out: that of AWS. */
  endpoint?: string;
  /** Left out: the credentials of the workload. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  pathStyle: boolean;
}

/** Of an upload, this much is held in memory; what is longer goes up in parts of this size. S3 takes no smaller ones. */
const PART_BYTES = 5 * 1024 * 1024;

type Library = typeof import('@aws-sdk/client-s3') & typeof import('@aws-sdk/lib-storage');

/** Requests that are under way at once. A download is one for as long as its reader takes. */
const MAX_SOCKETS = 100;

/** A bucket of Amazon S3, or of a server that speaks its protocol. */
export class S3Storage extends ObjectStorage {
  private loaded: Promise<{ library: Library; client: S3Client }> | undefined;

  constructor(private readonly options: S3Options) {
    super();
  }

  /** An upload in parts becomes an object with its last request; one that fails is aborted, and its parts are dropped. */
  protected async write(key: string, bytes: Readable): Promise<void> {
    const { library, client } = await this.library();
    const upload = new library.Upload({
      client,
      params: { ...this.at(key), Body: bytes },
      partSize: PART_BYTES,
      queueSize: 1,
      leavePartsOnError: false,
    });
    await upload.done();
  }

  protected async read(key: string, range?: ByteRange): Promise<StoredBytes | null> {
    const { library, client } = await this.library();
    const wanted = range && { Range: `bytes=${range.start}-${range.start + range.length - 1}` };
    try {
      const answer = await client.send(new library.GetObjectCommand({ ...this.at(key), ...wanted }));
      return { length: answer.ContentLength ?? 0, stream: answer.Body as Readable };
    } catch (error) {
      return unlessMissing(error, null);
    }
  }

  protected async remove(key: string): Promise<void> {
    const { library, client } = await this.library();
    await client.send(new library.DeleteObjectCommand(this.at(key))).catch((error: unknown) => unlessMissing(error, undefined));
  }

  protected async has(key: string): Promise<boolean> {
    const { library, client } = await this.library();
    try {
      await client.send(new library.HeadObjectCommand(this.at(key)));
      return true;
    } catch (error) {
      return unlessMissing(error, false);
    }
  }

  private at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.options.bucket, Key: key };
  }

  /** Loaded with the first use: who keeps files on the disk pays neither its memory nor its start. */
  private library(): Promise<{ library: Library; client: S3Client }> {
    this.loaded ??= this.load();
    return this.loaded;
  }

  private async load(): Promise<{ library: Library; client: S3Client }> {
    const [client, upload] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
    const { region, endpoint, credentials, pathStyle } = this.options;
    return {
      library: { ...client, ...upload },
      client: new client.S3Client({
        region,
        endpoint,
        credentials,
        forcePathStyle: pathStyle,
        maxAttempts: 3,
        // Servers other than Amazon's do not all know the newer checksums; TLS guards the bytes on their way.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        // Of silence, and not of the whole: 50 MiB may take their time.
        requestHandler: {
          connectionTimeout: 3_000,
          socketTimeout: 30_000,
          httpAgent: { maxSockets: MAX_SOCKETS },
          httpsAgent: { maxSockets: MAX_SOCKETS },
        },
      }),
    };
  }
}

function unlessMissing<T>(error: unknown, missing: T): T {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  // A bucket that is not there is no missing object but a wrong setting.
  if ($metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket') return missing;
  throw error;
}
