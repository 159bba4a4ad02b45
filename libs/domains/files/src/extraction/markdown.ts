/** Text that must not be taken for a heading, a fence or a row where a line begins. */
export const literally = (text: string): string => text.replace(/^([ \t]*)(#{1,6}(?=\s|$)|`{3,}|~{3,}|\|)/gm, '$1\\$2');

/** @param level 1 to 6; what is beyond them is the deepest */
export const heading = (level: number, text: string): string => `${'#'.repeat(Math.min(Math.max(level, 1), 6))} ${oneLine(text)}`;

/** A table of rows of any length, the first of which names the columns. */
export function* tableRows(rows: Iterable<readonly string[]>, columns: number): Generator<string> {
  let isFirst = true;
  for (const row of rows) {
    yield tableRow(Array.from({ length: columns }, (_, i) => row[i] ?? ''));
    if (isFirst) yield `|${' --- |'.repeat(columns)}\n`;
    isFirst = false;
  }
}

const tableRow = (cells: readonly string[]): string => `|${cells.map((cell) => ` ${oneLine(cell).replace(/\|/g, '\\|')} |`).join('')}\n`;

/** A small table at once. */
export const table = (rows: readonly (readonly string[])[]): string =>
  [
    ...tableRows(
      rows,
      rows.reduce((columns, row) => Math.max(columns, row.length), 0),
    ),
  ].join('');

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
