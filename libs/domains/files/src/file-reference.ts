import { DomainError } from '@aps/contracts';
import type { FileReference } from '@aps/entities';
import type { FileRow } from './files.repository';

/** Where a request names the nth file. */
export type LocOf = (index: number) => (string | number)[];

export const attachmentOf = ({ id, filename, media_type, size_bytes }: FileRow): FileReference => ({
  file_id: id,
  filename,
  media_type,
  size_bytes,
});

/** @throws DomainError 422 `unknown_reference` naming each of the files that is not there */
export function refuseMissing(ids: string[], there: { has(id: string): boolean }, locOf: LocOf): void {
  const msg = 'There is no such file.';
  const problems = ids.flatMap((id, i) => (there.has(id) ? [] : [{ loc: ['body', ...locOf(i)], msg, type: 'semantic.unknown_reference' }]));
  if (problems.length) throw new DomainError('unknown_reference', msg, { problems });
}
