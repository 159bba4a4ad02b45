import { Injectable } from '@nestjs/common';
import { DomainError, type ErrorCode, type FileInputMode, type Problem, refuseField, requireValid } from '@aps/contracts';
import { fileOf, FilesQueries, TextReader } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { ModelFiles, type ModelFile, type ReadableFile } from '@aps/inference';
import { Egress, EgressError } from '@aps/platform/egress';

/** Of what stands at an address. */
export const MAX_FETCHED_BYTES = 10 * 1024 * 1024;
/** Of the bytes that come with a request, all together. */
const MAX_INLINE_BYTES = 5 * 1024 * 1024;
/** Of all texts together, and of each. */
const MAX_CHARACTERS = 1_000_000;

/** A file as it is named: one that was uploaded, or the bytes themselves. */
export interface PromptAttachment {
  file_id?: string;
  filename?: string;
  media_type?: string;
  data_base64?: string;
}

/** What is read besides texts. */
export interface PromptFilesRequest {
  input_url?: string | null;
  attachments?: PromptAttachment[];
}

type Path = (string | number)[];
/** A file, and where the request names it. */
type Named = [path: Path, file: ReadableFile];

/** What a request is told that names a file of which the model cannot get all. */
const REFUSALS = { kind: 'unsupported_media', size: 'prompt_too_long', gone: 'unknown_reference' } as const satisfies Record<
  string,
  ErrorCode
>;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** The address itself is refused, whoever stands there. */
const REFUSED = new Set<EgressError['reason']>(['url', 'scheme', 'userinfo', 'port', 'address']);

/** Reads what a prompt is given besides texts: uploads, files in the request, what stands at an address. Nothing of it is kept. */
@Injectable()
export class PromptFiles {
  constructor(
    private readonly files: FilesQueries,
    private readonly reader: TextReader,
    private readonly egress: Egress,
  ) {}

  /**
   * Never inside a transaction. The model gets each file whole, or the request is refused.
   *
   * @returns in their order, what stands at the address first
   * @param attachments which {@link refuseMalformed} has let through
   * @throws DomainError 422 `unknown_reference`, `address_refused`, `input_url_failed`, `unsupported_media`, `prompt_too_long`; 503 where
   *   what was reading a file has ended, or too many are being read
   */
  async read(
    scope: OrgScope,
    { input_url, attachments = [] }: PromptFilesRequest,
    model: { vision: boolean; mode: FileInputMode },
    signal: AbortSignal,
  ): Promise<ModelFile[]> {
    const uploads = await this.uploads(scope, attachments);
    const attached = attachments.map(({ file_id, filename, data_base64 }, i): Named => {
      const file = file_id === undefined ? inMemory(filename!, Buffer.from(data_base64!, 'base64')) : uploads.get(file_id.toLowerCase())!;
      return [['attachments', i], file];
    });
    const fetched: Named[] = input_url ? [[['input_url'], await this.fetch(input_url, signal)]] : [];
    const reader = new ModelFiles({ ...model, showsPdfs: true, characters: MAX_CHARACTERS, charactersOfOne: MAX_CHARACTERS });
    const read: ModelFile[] = [];
    for (const [path, file] of [...fetched, ...attached]) {
      signal.throwIfAborted();
      const got = await reader.read({ ...file, text: () => this.textOf(scope, file, signal) });
      if (got.lacks) throw refuseField(REFUSALS[got.lacks.why], path, `The model cannot be given this file: ${got.lacks.what}.`);
      read.push(got);
    }
    return read;
  }

  private async textOf(scope: OrgScope, file: ReadableFile, signal: AbortSignal): Promise<string | null> {
    const { filename, media_type, size_bytes } = file;
    const read = await this.reader.read(scope, () => file.read(size_bytes), { filename, media_type, whole: true }, signal);
    return read && read.text;
  }

  /** By their ids. @throws DomainError `unknown_reference` with each that the caller may not see */
  private async uploads(scope: OrgScope, attachments: PromptAttachment[]): Promise<Map<string, ReadableFile>> {
    const ids = attachments.map(({ file_id }) => file_id?.toLowerCase());
    const rows = await this.files.visible(scope, [...new Set(ids.filter((id) => id !== undefined))]);
    const found = new Map(rows.map((row) => [row.id, { ...row, read: (length: number) => this.files.head(row, length) }]));
    const msg = 'There is no such file.';
    const problems = ids.flatMap((id, i) =>
      id === undefined || found.has(id) ? [] : [{ loc: ['body', 'attachments', i, 'file_id'], msg, type: 'semantic.unknown_reference' }],
    );
    if (problems.length) throw new DomainError('unknown_reference', msg, { problems });
    return found;
  }

  private async fetch(url: string, signal: AbortSignal): Promise<ReadableFile> {
    const failed = (why: string) => refuseField('input_url_failed', ['input_url'], why);
    try {
      const answer = await this.egress.fetch(url, { purpose: 'source', maxBytes: MAX_FETCHED_BYTES, signal });
      if (answer.status < 200 || answer.status > 299) throw failed(`The address answered with status ${answer.status}.`);
      if (!answer.body.length) throw failed('The address answered with nothing.');
      return inMemory(new URL(answer.url).pathname.split('/').at(-1)!, answer.body);
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw REFUSED.has(error.reason) ? refuseField('address_refused', ['input_url'], error.message) : failed(error.message);
    }
  }
}

/** @throws DomainError `validation_error` with what is wrong with each */
export function refuseMalformed(attachments: readonly PromptAttachment[] = []): void {
  const problems: Problem[] = [];
  let bytes = 0;
  for (const [i, { file_id, ...sent }] of attachments.entries()) {
    const refuse = (at: string, msg: string, type: string) => void problems.push({ loc: ['body', 'attachments', i, at], msg, type });
    if (file_id !== undefined) {
      if (Object.values(sent).some((value) => value !== undefined))
        refuse('file_id', 'A file that was uploaded takes no other field', 'value_error');
      continue;
    }
    for (const name of ['filename', 'media_type', 'data_base64'] as const)
      if (sent[name] === undefined) refuse(name, 'Field required', 'missing');
    const { data_base64 = '' } = sent;
    if (data_base64.length % 4 || !BASE64.test(data_base64)) refuse('data_base64', 'Input should be base64', 'value_error');
    bytes += Buffer.byteLength(data_base64, 'base64');
  }
  if (bytes > MAX_INLINE_BYTES)
    problems.push({
      loc: ['body', 'attachments'],
      msg: `Files in a request may have ${MAX_INLINE_BYTES} bytes together`,
      type: 'too_long',
    });
  requireValid(problems);
}

const inMemory = (filename: string, bytes: Buffer): ReadableFile => ({
  ...fileOf(filename, bytes),
  read: (length) => Promise.resolve(bytes.subarray(0, length)),
});
