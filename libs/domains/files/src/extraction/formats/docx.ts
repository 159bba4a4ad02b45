import type { Archive } from '../archive';
import { TextSink } from '../clean';
import { heading, literally, table } from '../markdown';
import { titleOf } from '../office';
import { readXml, type Attributes } from '../xml';
import type { Read } from './format';

const MAX_LIST_LEVEL = 8;
const LETTERS: Record<string, string> = { tab: '\t', br: '\n', cr: '\n', noBreakHyphen: '-' };

/** A paragraph on its way. */
interface Paragraph {
  text: string;
  style?: string;
  /** Its own, which hold before those of its style. */
  outline?: number;
  list?: { id?: string; level: number };
}

export async function readDocx(archive: Archive): Promise<Read> {
  const levels = await headingLevels(archive);
  const ordered = await orderedLists(archive);
  const sink = new TextSink();
  let wasList = false;
  const add = (block: string, isList = false) => {
    sink.add(`${sink.length ? (isList && wasList ? '\n' : '\n\n') : ''}${block}`);
    wasList = isList;
  };
  for (const part of ['word/document.xml', 'word/footnotes.xml', 'word/endnotes.xml'])
    await readBody(archive, part, {
      table: (rows) => add(table(rows).trimEnd()),
      paragraph: ({ text, style = '', outline, list }) => {
        if (!text.trim()) return;
        const level = outline ?? levels.get(style);
        if (level !== undefined) add(heading(level + 1, text));
        else if (list?.id && list.id !== '0')
          add(`${'  '.repeat(list.level)}${ordered.has(`${list.id} ${list.level}`) ? '1.' : '-'} ${text.trim()}`, true);
        else add(literally(text.trimEnd()));
      },
    });
  const media_type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  return { text: `${sink.toString()}\n`, title: await titleOf(archive), media_type };
}

/** Tells paragraphs and tables in their order; what is in the cells of a table is told with it, a table within one as text. */
async function readBody(
  archive: Archive,
  part: string,
  { paragraph, table: told }: { paragraph: (paragraph: Paragraph) => void; table: (rows: string[][]) => void },
): Promise<void> {
  const paragraphs: Paragraph[] = [];
  const count = TextSink.meter();
  let [tables, skipped, isText] = [0, 0, false];
  let rows: string[][] = [];
  await readXml(archive.read(part), {
    opened: (name, attribute) => {
      // The same once more, for programs that do not understand the first.
      if (name === 'Fallback') skipped++;
      const current = paragraphs.at(-1);
      if (name === 'p') paragraphs.push({ text: '' });
      else if (name === 'tbl' && tables++ === 0) rows = [];
      else if (name === 'tr' && tables === 1) rows.push([]);
      else if (name === 'tc' && tables === 1) rows.at(-1)?.push('');
      else if (name === 't') isText = true;
      else if (current && !skipped) describe(current, name, attribute);
    },
    text: (text) => {
      if (isText && !skipped && paragraphs.length) {
        count(text.length);
        paragraphs.at(-1)!.text += text;
      }
    },
    closed: (name) => {
      if (name === 'Fallback') skipped--;
      else if (name === 't') isText = false;
      else if (name === 'tbl' && --tables === 0) told(rows);
      else if (name === 'p') {
        const done = paragraphs.pop()!;
        // A box within a paragraph is told before it.
        if (!tables) paragraph(done);
        else if (rows.at(-1)?.length) rows.at(-1)!.push(`${rows.at(-1)!.pop()!} ${done.text}`);
      }
    },
  });
}

function describe(paragraph: Paragraph, name: string, attribute: Attributes): void {
  const value = attribute('val');
  if (name in LETTERS) paragraph.text += LETTERS[name];
  else if (name === 'pStyle') paragraph.style = value;
  else if (name === 'outlineLvl' && Number(value) < 9) paragraph.outline = Number(value);
  else if (name === 'numPr') paragraph.list = { level: 0 };
  else if (name === 'ilvl' && paragraph.list) paragraph.list.level = Math.min(Number(value) || 0, MAX_LIST_LEVEL);
  else if (name === 'numId' && paragraph.list) paragraph.list.id = value;
}

/** Styles of headings, and of what is based on them, by their ids: the outermost is 0. Their names are English in every language. */
async function headingLevels(archive: Archive): Promise<Map<string, number>> {
  const styles = new Map<string, { level?: number; base?: string }>();
  let id = '';
  await readXml(archive.read('word/styles.xml'), {
    opened: (name, attribute) => {
      if (name === 'style') styles.set((id = attribute('styleId') ?? ''), {});
      const style = styles.get(id);
      const value = attribute('val') ?? '';
      if (!style) return;
      if (name === 'name' && /^title$/i.test(value)) style.level = 0;
      else if (name === 'name' && /^heading [1-9]$/i.test(value)) style.level = Number(value.at(-1)) - 1;
      else if (name === 'basedOn') style.base = value;
      else if (name === 'outlineLvl') style.level = Number(value) < 9 ? Number(value) : undefined;
    },
  });
  const levels = new Map<string, number>();
  for (const key of styles.keys()) {
    let style = styles.get(key);
    for (let steps = 0; style && style.level === undefined && steps < 10; steps++) style = styles.get(style.base ?? '');
    if (style?.level !== undefined) levels.set(key, style.level);
  }
  return levels;
}

/** Lists that count, as `id level`. */
async function orderedLists(archive: Archive): Promise<Set<string>> {
  const abstract = new Map<string, Set<string>>();
  const ordered = new Set<string>();
  let [id, level] = ['', ''];
  await readXml(archive.read('word/numbering.xml'), {
    opened: (name, attribute) => {
      if (name === 'abstractNum') abstract.set((id = attribute('abstractNumId') ?? ''), new Set());
      else if (name === 'num') id = attribute('numId') ?? '';
      else if (name === 'lvl') level = attribute('ilvl') ?? '';
      else if (name === 'numFmt' && !['bullet', 'none'].includes(attribute('val') ?? '')) abstract.get(id)?.add(level);
      else if (name === 'abstractNumId') for (const each of abstract.get(attribute('val') ?? '') ?? []) ordered.add(`${id} ${each}`);
    },
  });
  return ordered;
}
