/** A stretch of a text that stands under the same headings, on one page. */
export interface Section {
  /** Headings above it, outermost first. */
  heading_path: string[];
  /** From 1; null where the format knows no pages. */
  page: number | null;
  /** Where it begins in the extracted text, code points. */
  start: number;
  /** Where it ends, exclusive. */
  end: number;
}

/** The text of a source, as Markdown, and how it is divided. */
export interface Extracted {
  text: string;
  /** In their order, without gaps from 0 to the end. */
  sections: Section[];
  /** As the source names itself; null where it does not. */
  title: string | null;
  /** As its bytes tell. */
  media_type: string;
}

/** Why a source cannot be read. */
export type ExtractionCode = 'unsupported_type' | 'too_large' | 'encrypted' | 'no_text' | 'extract_failed' | 'bomb' | 'timeout';

/** What a source is, beside its bytes. */
export interface SourceHints {
  /** Tells text formats apart, nothing else. */
  filename: string | null;
  /** As whoever sent it says; tells text formats apart, nothing else. */
  media_type: string | null;
}

/** A piece of a text that is found by itself. */
export interface Chunk {
  position: number;
  content: string;
  heading_path: string[];
  char_start: number;
  char_end: number;
  page: number | null;
  token_count: number;
}
