import { serveParent } from '@aps/platform/children';
import type { ExtractionCode } from './extracted';
import { ExtractionError } from './extraction-error';

/** What a process says of what it was told. */
export type FromReader<T> = { done: T } | { failed: { code: ExtractionCode; message: string } };

const UNREADABLE = new ExtractionError('extract_failed', 'It cannot be read');

/** What the module of a process that {@link Readers} start does: one thing after another, of which it says what has come of it, or why it cannot be read. */
export function serveReader<To, T>(work: (message: To) => Promise<T>): void {
  const say = serveParent<To, FromReader<T>>((message) => {
    work(message).then(
      (done) => say({ done }),
      (error: unknown) => {
        const { code, message: sentence } = error instanceof ExtractionError ? error : UNREADABLE;
        say({ failed: { code, message: sentence } });
      },
    );
  });
}
