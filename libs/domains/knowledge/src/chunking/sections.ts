import { CodePoints } from './code-points';
import { linesOf, type Line } from './lines';

/** A stretch of a text that stands under the same headings, on one page. */
export interface Section {
  /** Headings above it, outermost first. */
  heading_path: string[];
  /** From 1; null where the format knows no pages. */
  page: number | null;
  /** Where it begins in the text, code points. */
  start: number;
  /** Where it ends, exclusive. */
  end: number;
}

const MAX_HEADING_CHARS = 200;

/**
 * Divides a text where headings stand and pages begin, without gaps from 0 to its end.
 *
 * @param pages where each begins, from the first, in code units; empty where the format knows none
 * @param hasHeadings false of plain text, in which a `#` is no heading
 */
export function sectionsOf(text: string, pages: readonly number[] = [], hasHeadings = true): Section[] {
  const points = new CodePoints(text);
  const headings = hasHeadings ? linesOf(text).filter(({ kind }) => kind === 'heading') : [];
  const starts = [...new Set([0, ...pages, ...headings.map(({ start }) => start)])]
    .filter((start) => start < text.length)
    .sort((a, b) => a - b);
  const above: { level: number; title: string }[] = [];
  let [page, heading] = [0, 0];
  return starts.map((start, i) => {
    while (page < pages.length && pages[page] <= start) page++;
    if (headings[heading]?.start === start) {
      const { level } = headings[heading];
      while (above.length && above.at(-1)!.level >= level) above.pop();
      above.push({ level, title: titleOf(text, headings[heading++]) });
    }
    return {
      heading_path: above.map(({ title }) => title).filter(Boolean),
      page: pages.length ? page : null,
      start: points.ofUnit(start),
      end: points.ofUnit(starts[i + 1] ?? text.length),
    };
  });
}

/** A heading without its marks. */
function titleOf(text: string, { start, end }: Line): string {
  const [line] = text
    .slice(start, end)
    .trim()
    .split(/[\r\n]/, 1);
  const words = line.replace(/^#{1,6}(?=\s|$)/, '').trim();
  return Array.from(words.replace(/(^|\s)#+$/, '').trim())
    .slice(0, MAX_HEADING_CHARS)
    .join('');
}
