const MAX_INDENT = 40;

/** JSON in a fence, a member a line where it came in few; its letters stay as they are. What is no JSON is text. */
export function jsonText(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const written = text.trim();
  const isShort = written.length < 200;
  return `\`\`\`json\n${isShort || written.split('\n').length > written.length / 200 ? written : indented(written)}\n\`\`\`\n`;
}

/** By its letters, since a number that is read and written is another. */
function indented(json: string): string {
  let depth = 0;
  const line = () => `\n${' '.repeat(Math.min(depth * 2, MAX_INDENT))}`;
  return json.replace(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|\s+/g, (found) => {
    if (found === '{' || found === '[') return `${found}${(depth++, line())}`;
    if (found === '}' || found === ']') return `${(depth--, line())}${found}`;
    if (found === ',') return `,${line()}`;
    if (found === ':') return ': ';
    return found.trim() ? found : '';
  });
}
