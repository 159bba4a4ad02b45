import type { UploadResponse } from '@aps/dtos';
import type { FileRow } from '@aps/files';

export function toUpload(file: FileRow): UploadResponse {
  return {
    file_id: file.id,
    filename: file.filename,
    media_type: file.media_type,
    size_bytes: file.size_bytes,
    sha256: file.sha256,
    expires_at: file.expires_at?.toISOString() ?? null,
  };
}
