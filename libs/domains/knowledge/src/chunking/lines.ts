/** What a line of Markdown is for whoever divides a text; a line of a fence is `fence` from its opening to its closing one. */
export type LineKind = 'blank' | 'heading' | 'fence' | 'row' | 'text';

export interface Line {
  kind: LineKind;
  /** Code units; the end is behind its line break. */
  start: number;
  end: number;
  /** Of a heading, 1 to 6. */
  level: number;
  /** Whether it goes on with the fence, the table or the paragraph of the line before it. */
  goesOn: boolean;
}

/** Longer lines are text, whatever they begin with. */
const MAX_MARKED_CHARS = 10_000;
const ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
const LINE = /[^\r\n]*(?:\r\n|\r|\n|$)/y;
const FENCE = /^[ \t>]*(?:[-*+] +)?(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/;
const ROW = /^[ \t]*\|/;
const DELIMITERS = /^[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;

/** The lines of a text, without gaps. Never fails: what is no Markdown is text. */
export function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  const written: string[] = [];
  let fence: string | null = null;
  for (let start = 0; start < text.length; start = LINE.lastIndex) {
    LINE.lastIndex = start;
    const all = LINE.exec(text)![0];
    const end = start + all.length;
    const said = all.length > MAX_MARKED_CHARS ? 'x' : all.trimEnd();
    const before = lines.at(-1);
    const line: Line = { kind: 'text', start, end, level: 0, goesOn: before?.kind === 'text' && !ITEM.test(said) };
    if (fence !== null) {
      Object.assign(line, { kind: 'fence', goesOn: true });
      if (closes(said, fence)) fence = null;
    } else if (!said) Object.assign(line, { kind: 'blank', goesOn: false });
    else if (FENCE.test(said)) {
      Object.assign(line, { kind: 'fence', goesOn: false });
      fence = FENCE.exec(said)![1];
    } else if (HEADING.test(said)) Object.assign(line, { kind: 'heading', level: HEADING.exec(said)![1].length, goesOn: false });
    else if (isUnderline(said, lines)) Object.assign(before!, { kind: 'heading', level: said.trim().startsWith('=') ? 1 : 2, end });
    else if (ROW.test(said)) Object.assign(line, { kind: 'row', goesOn: before?.kind === 'row' });
    else if (before?.kind === 'row' && said.includes('|')) Object.assign(line, { kind: 'row', goesOn: true });
    else if (before?.kind === 'text' && said.includes('|') && DELIMITERS.test(said) && written.at(-1)!.includes('|')) {
      before.kind = 'row';
      Object.assign(line, { kind: 'row', goesOn: true });
    }
    if (before?.end === end) continue;
    lines.push(line);
    written.push(said);
  }
  return lines;
}

const closes = (said: string, fence: string): boolean => {
  const mark = said.replace(/^[ \t>]+/, '');
  return mark.length >= fence.length && mark === fence[0].repeat(mark.length);
};

/** Under a single line; under more it is a rule, or what ends a preamble. */
function isUnderline(said: string, lines: Line[]): boolean {
  const [above, before] = [lines.at(-2), lines.at(-1)];
  return before?.kind === 'text' && (!above || above.kind === 'blank' || above.kind === 'heading') && UNDERLINE.test(said);
}
