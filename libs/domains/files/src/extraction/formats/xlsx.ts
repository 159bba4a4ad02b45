import type { Archive } from '../archive';
import { TextSink } from '../clean';
import { heading, tableRows } from '../markdown';
import { relationsOf, titleOf } from '../office';
import { readXml } from '../xml';
import type { Read } from './format';

const WORKBOOK = 'xl/workbook.xml';
/** Built-in formats that show a date or a time. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
/** Days before 1970 at which dates begin, and at which they do in old workbooks of the Macintosh. */
const EPOCH = 25_569;
const EPOCH_1904 = 24_107;

interface Workbook {
  sheets: { name: string; id: string }[];
  epoch: number;
  strings: string[];
  /** Whether a style shows a date. */
  dates: boolean[];
}

/** Each sheet is a table under its name. */
export async function readXlsx(archive: Archive): Promise<Read> {
  const sink = new TextSink();
  const relations = await relationsOf(archive, WORKBOOK);
  const workbook = await workbookOf(archive);
  for (const { name, id } of workbook.sheets) {
    const part = relations.get(id);
    const rows = part?.type === 'worksheet' ? await rowsOf(archive, part.target, workbook) : [];
    if (!rows.length) continue;
    sink.add(`${heading(1, name)}\n\n`);
    // What no row has anything in is no column.
    const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
    const filled = function* () {
      for (const row of rows) yield columns.map((column) => row.get(column) ?? '');
    };
    for (const row of tableRows(filled(), columns.length)) sink.add(row);
    sink.add('\n');
  }
  const media_type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  return { text: sink.toString(), title: await titleOf(archive), media_type };
}

async function workbookOf(archive: Archive): Promise<Workbook> {
  const workbook: Workbook = { sheets: [], epoch: EPOCH, strings: [], dates: [] };
  await readXml(archive.read(WORKBOOK), {
    opened: (name, attribute) => {
      if (name === 'sheet') workbook.sheets.push({ name: attribute('name') ?? '', id: attribute('r:id') ?? '' });
      else if (name === 'workbookPr' && /^(1|true)$/.test(attribute('date1904') ?? '')) workbook.epoch = EPOCH_1904;
    },
  });
  let [isText, phonetic] = [false, 0];
  await readXml(archive.read('xl/sharedStrings.xml'), {
    opened: (name) => {
      if (name === 'si') workbook.strings.push('');
      else if (name === 'rPh') phonetic++;
      isText = name === 't';
    },
    text: (text) => {
      if (isText && !phonetic && workbook.strings.length) workbook.strings.push(workbook.strings.pop()! + text);
    },
    closed: (name) => {
      isText = false;
      if (name === 'rPh') phonetic--;
    },
  });
  const custom = new Map<string, boolean>();
  let isUsed = false;
  await readXml(archive.read('xl/styles.xml'), {
    opened: (name, attribute) => {
      const id = attribute('numFmtId') ?? '';
      if (name === 'numFmt') custom.set(id, showsDate(attribute('formatCode') ?? ''));
      else if (name === 'cellXfs') isUsed = true;
      else if (name === 'xf' && isUsed) workbook.dates.push(custom.get(id) ?? isBuiltInDate(Number(id)));
    },
    closed: (name) => {
      if (name === 'cellXfs') isUsed = false;
    },
  });
  return workbook;
}

const showsDate = (format: string): boolean => /[ymdhs]/i.test(format.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, ''));

/** Rows with something in them: texts by their columns, the first of which is 0. */
async function rowsOf(archive: Archive, part: string, workbook: Workbook): Promise<Map<number, string>[]> {
  const rows: Map<number, string>[] = [];
  const count = TextSink.meter();
  let [column, type, style, value, isValue] = [-1, '', 0, '', false];
  await readXml(archive.read(part), {
    opened: (name, attribute) => {
      if (name === 'row') {
        if (rows.at(-1)?.size !== 0) rows.push(new Map<number, string>());
        column = -1;
      } else if (name === 'c') {
        column = columnOf(attribute('r')) ?? column + 1;
        [type, style, value] = [attribute('t') ?? 'n', Number(attribute('s')), ''];
      }
      isValue = name === 'v' || name === 't';
    },
    text: (text) => {
      if (isValue) value += text;
    },
    closed: (name) => {
      isValue = false;
      if (name !== 'c') return;
      const shown = shownAs(type, value, workbook.dates[style] ? workbook.epoch : null, workbook.strings);
      if (!shown.trim()) return;
      count(shown.length);
      rows.at(-1)?.set(column, shown);
    },
  });
  if (rows.at(-1)?.size === 0) rows.pop();
  return rows;
}

/** `BC12` is column 54. */
function columnOf(reference: string | undefined): number | null {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  return letters ? [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1 : null;
}

function shownAs(type: string, value: string, epoch: number | null, strings: string[]): string {
  if (type === 's') return strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  const days = Number(value);
  if (type !== 'n' || epoch === null || !value || !(days >= 0 && days < 3_000_000)) return value;
  const at = new Date(Math.round((days - epoch) * 86_400) * 1000).toISOString();
  if (days < 1) return at.slice(11, 19);
  return days % 1 ? at.slice(0, 19).replace('T', ' ') : at.slice(0, 10);
}
