/** Under which an instruction holds what humans have disputed. */
export const CORRECTIONS_HEADING = '## Corrections from reviewed decisions';

const SECTION = new RegExp(`^${CORRECTIONS_HEADING}[ \\t]*\\r?$`, 'm');
/** What ends it: a heading as high as its own, or higher. */
const NEXT_SECTION = /^#{1,2}[ \t]/m;

const markerOf = (decisionId: string): string => `<!-- decision:${decisionId} -->`;

/**
 * What a human wrote as one line of a list. Whatever lines it had, it begins no heading, and it can neither hold a marker, which would
 * make a correction to come look like one that is there, nor open a comment that swallows what follows.
 */
const asLine = (text: string): string =>
  text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replaceAll('<!--', '<! --')
    .replaceAll('-->', '-- >');

/**
 * Adds a correction to an instruction, at the end of its section of corrections, which is made where there is none. All that stands there
 * already stays as it is.
 *
 * @returns the new text, or null when this decision's correction is there
 */
export function withCorrection(content: string, decisionId: string, shouldHave: string): string | null {
  if (content.includes(markerOf(decisionId))) return null;
  const bullet = `- ${asLine(shouldHave)} ${markerOf(decisionId)}\n`;
  const section = SECTION.exec(content);
  if (!section) {
    const before = content.trimEnd();
    return `${before}${before ? '\n\n' : ''}${CORRECTIONS_HEADING}\n\n${bullet}`;
  }
  const begin = section.index + section[0].length;
  const next = NEXT_SECTION.exec(content.slice(begin));
  const end = next ? begin + next.index : content.length;
  const above = content.slice(0, end).trimEnd();
  const gap = above.length === section.index + CORRECTIONS_HEADING.length ? '\n\n' : '\n';
  return `${above}${gap}${bullet}${next ? '\n' : ''}${content.slice(end)}`;
}
