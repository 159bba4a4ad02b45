import { ExtractionError } from '@aps/files/extraction';
import { atomsOf, MAX_CHARS, type Atom } from './atoms';
import { CodePoints } from './code-points';
import type { Section } from './sections';
import { countTokens } from './tokens';

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

/** Tokens of a chunk: what it is filled up to, what it never has more of, and what it has in common with the one before. */
const TARGET = 800;
const MAX = 1_200;
const OVERLAP = 100;
/** From here on a heading begins another chunk; shorter sections go together. */
const SECTION = 200;
/** Fewer are no chunk of their own where that can be helped. */
const REST = 100;
const MAX_CHUNKS = 20_000;

/** A stretch of atoms: what it has in common with the one before it, what is new, and its end, exclusive. */
interface Range {
  lead: number;
  from: number;
  end: number;
}

/**
 * Divides a text into what is found by itself. Each chunk is a stretch of the text, in its order; what lies in none is blank. The same text
 * gives the same chunks.
 *
 * @throws ExtractionError `too_large` beyond `limit` chunks
 */
export function chunksOf(text: string, sections: Section[], limit = MAX_CHUNKS): Chunk[] {
  const points = new CodePoints(text);
  const units = sections.map((section) => points.toUnit(section.start));
  const packing = new Packing(atomsOf(text, MAX), new Set(headingStarts(sections).map((section) => units[section])));
  const chunks: Chunk[] = [];
  let first = 0;
  for (let range = packing.after(null); range; range = packing.after(range)) {
    const { start, fresh, end, tokens } = packing.within(text, range);
    const content = text.slice(start, end);
    if (!content.trim()) continue;
    if (chunks.length === limit) throw new ExtractionError('too_large', `It comes to more than ${limit} chunks`);
    while (first + 1 < sections.length && units[first + 1] <= fresh) first++;
    let last = first;
    while (last + 1 < sections.length && units[last + 1] < end) last++;
    chunks.push({
      position: chunks.length,
      content,
      heading_path: inCommon(sections.slice(first, last + 1)),
      char_start: points.ofUnit(start),
      char_end: points.ofUnit(end),
      page: sections[first]?.page ?? null,
      token_count: tokens,
    });
  }
  return chunks;
}

/** Those that stand under other headings than the section before them. */
const headingStarts = (sections: Section[]): number[] =>
  sections.flatMap(({ heading_path }, i) => (i && isSame(heading_path, sections[i - 1].heading_path) ? [] : [i]));

const isSame = (a: string[], b: string[]): boolean => a.length === b.length && a.every((heading, i) => heading === b[i]);

/** The headings above all of them. */
function inCommon(sections: Section[]): string[] {
  const [path = [], ...others] = sections.map(({ heading_path }) => heading_path);
  const end = path.findIndex((heading, i) => others.some((other) => other[i] !== heading));
  return end < 0 ? path : path.slice(0, end);
}

class Packing {
  /** Tokens before each atom. */
  private readonly before: number[] = [0];

  /** @param sections where other headings begin to hold, in code units */
  constructor(
    private readonly atoms: Atom[],
    private readonly sections: Set<number>,
  ) {
    for (const { tokens } of atoms) this.before.push(this.before.at(-1)! + tokens);
  }

  /** @returns null behind the last */
  after(previous: Range | null): Range | null {
    const from = previous?.end ?? 0;
    if (from === this.atoms.length) return null;
    const lead = previous ? this.leadOf(previous) : 0;
    return { lead, from, end: this.endOf(lead, from) };
  }

  /** Where it lies, counted as it stands: what was summed up may be some tokens less. */
  within(text: string, range: Range): { start: number; fresh: number; end: number; tokens: number } {
    const { atoms } = this;
    for (;;) {
      const [start, end] = [atoms[range.lead].start, atoms[range.end - 1].end];
      const tokens = countTokens(text.slice(start, end));
      if (tokens <= MAX || range.end - range.lead === 1) return { start, fresh: atoms[range.from].start, end, tokens };
      if (range.lead < range.from) range.lead++;
      else range.end--;
    }
  }

  private tokens(from: number, end: number): number {
    return this.before[end] - this.before[from];
  }

  private isSection(atom: number): boolean {
    return this.sections.has(this.atoms[atom].start);
  }

  /** The last atoms of a chunk, which the next one begins with; none before what begins a section. */
  private leadOf({ from, end }: Range): number {
    if (this.isSection(end)) return end;
    let lead = end;
    while (lead - 1 > from && !this.isSection(lead) && this.tokens(lead - 1, end) <= OVERLAP) lead--;
    return this.tokens(lead, end + 1) > MAX ? end : lead;
  }

  private endOf(lead: number, from: number): number {
    const { atoms } = this;
    for (let end = from + 1; end < atoms.length; end++) {
      if (this.isSection(end) && this.tokens(from, end) >= SECTION) return end;
      const chars = atoms[end].end - atoms[lead].start;
      if (this.tokens(lead, end + 1) <= TARGET && chars <= MAX_CHARS) continue;
      if (chars <= MAX_CHARS && this.tokens(end, atoms.length) <= REST) continue;
      return this.placeBefore(lead, from, end);
    }
    return atoms.length;
  }

  /** The best place to divide before `end`, beyond which there is too much. */
  private placeBefore(lead: number, from: number, end: number): number {
    const { atoms } = this;
    // What is too little alone takes with it what fits.
    if (this.tokens(from, end) < REST && this.tokens(lead, end + 1) <= MAX && atoms[end].end - atoms[lead].start <= MAX_CHARS)
      return end + 1;
    let place = end;
    while (place > from && !(atoms[place].beginsBlock && !atoms[place - 1].isHeading)) place--;
    if (this.tokens(from, place) >= TARGET / 2) return place;
    return end - 1 > from && atoms[end - 1].isHeading ? end - 1 : end;
  }
}
