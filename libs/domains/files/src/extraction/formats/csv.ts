import { CsvError, parse } from 'csv-parse/sync';
import { TextSink } from '../clean';
import { tableRows } from '../markdown';

const DELIMITERS = [',', ';', '\t', '|'];

/** A table of its rows, the first of which names the columns. Quotes that are none are letters. What is no CSV is text. */
export function csvText(text: string): string {
  const rows = rowsOf(text);
  if (!rows) return text;
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const sink = new TextSink();
  for (const row of tableRows(rows, columns)) sink.add(row);
  return sink.toString();
}

function rowsOf(text: string): string[][] | null {
  try {
    return parse(text, {
      delimiter: delimiterOf(text),
      ...{ bom: true, relax_quotes: true, relax_column_count: true, skip_empty_lines: true },
    });
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}

/** What stands most often in the first lines, outside of quotes. */
function delimiterOf(text: string): string {
  const lines = text
    .slice(0, 4_000)
    .replace(/"[^"]*"/g, '')
    .split(/\r\n?|\n/, 5);
  const counts = DELIMITERS.map((delimiter) => lines.reduce((sum, line) => sum + line.split(delimiter).length - 1, 0));
  return DELIMITERS[counts.indexOf(Math.max(...counts))];
}
