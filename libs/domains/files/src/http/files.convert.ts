import { UploadResponse } from '@aps/dtos';
import type { FileRow } from '../files.repository';
import { answer } from '@aps/platform/http';

export function toUpload(file: FileRow): UploadResponse {
  return answer(UploadResponse, file, { file_id: file.id });
}
