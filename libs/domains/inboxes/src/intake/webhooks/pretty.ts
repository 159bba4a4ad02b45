/**
 * JSON for people, in two spaces, as far as somebody will read it. `JSON.stringify` writes all of it first, and indents a deep list into
 * a hundred times its size.
 *
 * @returns at least `length` characters where the whole has as many
 */
export function prettyJson(value: unknown, length: number): string {
  const parts: string[] = [];
  let written = 0;
  const say = (text: string) => {
    parts.push(text);
    written += text.length;
  };
  const write = (one: unknown, indent: string): void => {
    if (typeof one !== 'object' || one === null) return say(JSON.stringify(one));
    const isList = Array.isArray(one);
    const [open, close] = isList ? '[]' : '{}';
    const inner = `${indent}  `;
    let isFirst = true;
    // Of a large object all keys are listed once, of a large list nothing is.
    for (const key of isList ? one.keys() : Object.keys(one)) {
      if (written >= length) return;
      say(`${isFirst ? open : ','}\n${inner}`);
      isFirst = false;
      if (!isList) say(`${JSON.stringify(key)}: `);
      write((one as Record<string | number, unknown>)[key], inner);
    }
    say(isFirst ? open + close : `\n${indent}${close}`);
  };
  write(value, '');
  return parts.join('');
}
