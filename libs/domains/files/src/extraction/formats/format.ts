/** What is read of a file: its text as Markdown, not cleaned yet. */
export interface Read {
  text: string;
  title: string | null;
  media_type: string;
  /** Where each page begins, in code units; left out where the format knows none. */
  pages?: number[];
  /** False where a line that looks like a heading is none. */
  hasHeadings?: boolean;
}
