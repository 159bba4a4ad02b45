import type { Archive } from '../archive';
import { TextSink } from '../clean';
import { heading, literally, table } from '../markdown';
import { relationsOf, titleOf } from '../office';
import { readXml } from '../xml';
import type { Read } from './format';

const PRESENTATION = 'ppt/presentation.xml';
const TITLES = new Set(['title', 'ctrTitle']);
/** What stands on every slide. */
const FURNITURE = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** A shape with text, or a table. */
interface Shape {
  kind: string | null;
  paragraphs: { text: string; level: number }[];
  rows?: string[][];
}

/** Each slide is a page, under its title. */
export async function readPptx(archive: Archive): Promise<Read> {
  const sink = new TextSink();
  const pages: number[] = [];
  const relations = await relationsOf(archive, PRESENTATION);
  const count = TextSink.meter();
  for (const id of await slideIds(archive)) {
    const slide = relations.get(id)?.target;
    if (!slide) continue;
    const shapes = await shapesOf(archive, slide, count);
    const title = shapes.find(({ kind }) => kind !== null && TITLES.has(kind));
    const parts = [
      heading(
        1,
        title?.paragraphs
          .map(({ text }) => text)
          .join(' ')
          .trim() || `Slide ${pages.length + 1}`,
      ),
    ];
    for (const shape of shapes) if (shape !== title) parts.push(asMarkdown(shape));
    const notes = [...(await relationsOf(archive, slide)).values()].find(({ type }) => type === 'notesSlide');
    if (notes) for (const shape of await shapesOf(archive, notes.target, count)) parts.push(asMarkdown(shape));
    pages.push(sink.length);
    sink.add(`${parts.filter((part) => part.trim()).join('\n\n')}\n\n`);
  }
  const media_type = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';
  return { text: sink.toString(), title: await titleOf(archive), media_type, pages };
}

async function slideIds(archive: Archive): Promise<string[]> {
  const ids: string[] = [];
  await readXml(archive.read(PRESENTATION), {
    opened: (name, attribute) => {
      const id = name === 'sldId' && attribute('r:id');
      if (id) ids.push(id);
    },
  });
  return ids;
}

async function shapesOf(archive: Archive, part: string, count: (chars: number) => void): Promise<Shape[]> {
  const shapes: Shape[] = [];
  let [isText, skipped] = [false, 0];
  await readXml(archive.read(part), {
    opened: (name, attribute) => {
      const shape = shapes.at(-1);
      if (name === 'Fallback') skipped++;
      else if (name === 'sp' || name === 'graphicFrame') shapes.push({ kind: null, paragraphs: [] });
      else if (name === 'ph' && shape) shape.kind = attribute('type') ?? 'body';
      else if (name === 'tbl' && shape) shape.rows = [];
      else if (name === 'tr') shape?.rows?.push([]);
      else if (name === 'tc') shape?.rows?.at(-1)?.push('');
      else if (name === 'p' && !shape?.rows) shape?.paragraphs.push({ text: '', level: 0 });
      else if (name === 'pPr' && shape?.paragraphs.length) shape.paragraphs.at(-1)!.level = Number(attribute('lvl')) || 0;
      else if (name === 'br') write(shape, '\n');
      isText ||= name === 't';
    },
    text: (text) => {
      if (!isText || skipped) return;
      count(text.length);
      write(shapes.at(-1), text);
    },
    closed: (name) => {
      if (name === 'Fallback') skipped--;
      else if (name === 't') isText = false;
      else if (name === 'p' && shapes.at(-1)?.rows) write(shapes.at(-1), ' ');
    },
  });
  return shapes.filter(({ kind }) => kind === null || !FURNITURE.has(kind));
}

function write(shape: Shape | undefined, text: string): void {
  const cells = shape?.rows?.at(-1);
  if (cells?.length) cells.push(cells.pop()! + text);
  else if (shape?.paragraphs.length) shape.paragraphs.at(-1)!.text += text;
}

/** The paragraphs of a placeholder are points of a list, unless there is but one. */
function asMarkdown({ kind, paragraphs, rows }: Shape): string {
  if (rows) return table(rows);
  const said = paragraphs.filter(({ text }) => text.trim());
  const isList = kind !== null && said.length > 1;
  return said
    .map(({ text, level }) => (isList ? `${'  '.repeat(Math.min(level, 8))}- ${text.trim()}` : literally(text.trim())))
    .join(isList ? '\n' : '\n\n');
}
