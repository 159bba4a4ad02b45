import type { FileReference, RunSourceKind } from '@aps/entities';

/** What a run was begun by. */
export interface RunSource {
  kind: RunSourceKind;
  ref_id: string | null;
  user_id: string | null;
}

/** The mail or webhook behind a run that an inbox has begun. */
export interface RunMessage {
  from: string | null;
  subject: string | null;
  text: string;
}

export interface EnvelopeParts {
  id: string;
  source: RunSource;
  /** RFC 3339. */
  received_at: string;
  input: Record<string, unknown>;
  attachments: FileReference[];
  message: RunMessage | null;
}

/** What a run is begun with, as text: a replay of it says the same, byte for byte, but for who has begun it. */
export const envelopeOf = ({ id, source, received_at, input, attachments, message }: EnvelopeParts): string =>
  JSON.stringify({ id, source: sourceOf(source), received_at, input, attachments, message });

/** The same envelope, begun by somebody else. */
export function withSource(envelope: string, source: RunSource): string {
  const begins = envelope.indexOf(SOURCE);
  const ends = envelope.indexOf(AFTER, begins);
  if (begins < 0 || ends < 0) throw new Error('This is no envelope');
  return envelope.slice(0, begins) + SOURCE + JSON.stringify(sourceOf(source)) + envelope.slice(ends);
}

const SOURCE = '"source":';
/** Nothing in the source can spell it: ids alone stand there. */
const AFTER = ',"received_at":';

const sourceOf = ({ kind, ref_id, user_id }: RunSource) => ({ kind, ref_id, user_id });
