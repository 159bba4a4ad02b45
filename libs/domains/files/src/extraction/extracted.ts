/** The text of a file, as Markdown. */
export interface Extracted {
  text: string;
  /** Where each page begins in the text, in code units; empty where the format knows none. */
  pages: number[];
  /** False where a line that looks like a heading is none. */
  hasHeadings: boolean;
  /** As the file names itself; null where it does not. */
  title: string | null;
  /** As its bytes tell. */
  media_type: string;
}

/** Why a file cannot be read. */
export type ExtractionCode = 'unsupported_type' | 'too_large' | 'encrypted' | 'no_text' | 'extract_failed' | 'bomb' | 'timeout';

/** What a file is, beside its bytes, and what is wanted of it. */
export interface FileHints {
  /** Tells text formats apart, nothing else. */
  filename: string | null;
  /** As whoever sent it says; tells text formats apart, nothing else. */
  media_type: string | null;
  /** Of a page all that it says; left out: its article alone, where one can be made out. */
  whole?: boolean;
}

/** A file that is to be read. */
export interface FileBytes {
  bytes: Buffer;
  hints: FileHints;
}
