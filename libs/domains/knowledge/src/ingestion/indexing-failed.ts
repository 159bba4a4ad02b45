import type { SourceStage } from '@aps/entities';
import type { ExtractionCode } from '@aps/files';

/** What is wrong with a source, for programs. */
export type IndexingCode = ExtractionCode | 'fetch_refused' | 'fetch_failed' | 'remote_gone' | 'worker_lost' | 'internal';

/** A source that cannot be indexed as it is. The message is for people, and says nothing of its content. */
export class IndexingFailed extends Error {
  constructor(
    readonly code: IndexingCode,
    readonly stage: SourceStage,
    message: string,
  ) {
    super(message);
  }
}

/** A fault that is none of the source, and at which stage it was met. */
export class StageFault extends Error {
  constructor(
    readonly stage: SourceStage,
    cause: unknown,
  ) {
    super((cause as Error)?.message, { cause });
    // Where it was met is of no use in the log.
    if (cause instanceof Error) this.stack = cause.stack;
  }
}
