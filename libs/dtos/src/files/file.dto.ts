import { DateTimeField, IntField, StringField, UuidField } from '@aps/platform/http';

/** A file as what refers to it shows it. */
export class FileReferenceDto {
  @UuidField({ description: 'The file.' }) file_id: string;
  @StringField({ description: 'Its name.', example: 'invoice.pdf' }) filename: string;
  @StringField({ description: 'What it is, told from its bytes.', example: 'application/pdf' }) media_type: string;
  @IntField({ description: 'Its length.' }) size_bytes: number;
}

export class UploadResponse extends FileReferenceDto {
  @StringField({ description: 'SHA-256 of its bytes, in hex.' }) sha256: string;
  @DateTimeField({ nullable: true, description: 'When it is removed, unless something refers to it by then.' }) expires_at: string | null;
}
