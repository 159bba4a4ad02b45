import { configSection, flag, setting } from '@aps/platform/config';
import { z } from 'zod';

export const storageConfig = configSection('storage', {
  dir: setting(
    'FILES_DIR',
    z.string().default('.data/files'),
    'Folder of uploaded files while no S3_BUCKET is set; all processes must see the same one',
  ),
  bucket: setting(
    'S3_BUCKET',
    z.string().optional(),
    'Bucket of an S3-compatible object storage for uploaded files. Empty: they are kept in FILES_DIR',
  ),
  endpoint: setting(
    'S3_ENDPOINT',
    z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
    'Address of that storage, https://s3.example.com. Empty: that of AWS for S3_REGION',
  ),
  region: setting('S3_REGION', z.string().default('us-east-1'), 'Region that requests are signed for'),
  accessKeyId: setting(
    'S3_ACCESS_KEY_ID',
    z.string().optional(),
    'Access key. Empty: the credentials of the workload (web identity, container or instance role)',
  ),
  secretAccessKey: setting('S3_SECRET_ACCESS_KEY', z.string().optional(), 'Secret of S3_ACCESS_KEY_ID', { secret: true }),
  pathStyle: setting(
    'S3_PATH_STYLE',
    flag(false),
    'Name the bucket in the path and not in the host name, as MinIO and most servers of one’s own want it',
  ),
});
