/** A fenced code block of a Markdown file. */
export interface Block {
  /** The word after the fence: `bash`, `text`, `sql` … */
  info: string;
  text: string;
  /** Line of the opening fence, from 1. */
  line: number;
}

/** The fenced code blocks of a Markdown text, in their order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { info: string; fence: string; line: number; lines: string[] } | undefined;
  markdown.split('\n').forEach((text, i) => {
    const fence = /^(`{3,})\s*(\S*)/.exec(text);
    if (open && fence && fence[2] === '' && fence[1].length >= open.fence.length) {
      blocks.push({ info: open.info, text: open.lines.join('\n'), line: open.line });
      open = undefined;
    } else if (open) open.lines.push(text);
    else if (fence) open = { info: fence[2], fence: fence[1], line: i + 1, lines: [] };
  });
  return blocks;
}

/** Commands to run, and what they are documented to print; null where nothing is said. */
export interface Step {
  script: string;
  output: string | null;
  line: number;
}

/** The `bash` blocks as steps; a `text` block right after one is its output. */
export function stepsOf(markdown: string): Step[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap((block, i) => {
    if (block.info !== 'bash') return [];
    const next = blocks[i + 1];
    return [{ script: block.text, output: next?.info === 'text' ? next.text : null, line: block.line }];
  });
}

/** Whether an output is as documented: the same but for white space at its ends, `…` standing for anything. */
export function isAsDocumented(printed: string, documented: string): boolean {
  const escaped = documented
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('[\\s\\S]*')}$`).test(printed.trim());
}
