const MAX_LENGTH = 200;
const MAX_EXTENSION = 20;

/** Control characters, and those that turn the direction of text: `gpj.exe` must not be shown as `exe.jpg`. */

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * A name that can be shown, stored and offered for download: no path, nothing that hides, at most 200 characters with the extension
 * kept. What has nothing left is called `file`.
 */
export function safeFilename(given: string): string {
  const base = given.toWellFormed().normalize('NFC').replaceAll(UNPRINTABLE, '').split(/[\\/]/).at(-1) ?? '';
  const name = base.replace(/\s+/g, ' ').replace(/^[. ]+|(?<![. ])[. ]+$/g, '');
  if (name === '') return 'file';
  if (name.length <= MAX_LENGTH) return name;
  const extension = extensionOf(name);
  const kept = extension && extension.length < MAX_EXTENSION ? `.${extension}` : '';
  return `${cutTo(name, MAX_LENGTH - kept.length)}${name.slice(name.length - kept.length)}`;
}

/** Without half a character at its end. */
function cutTo(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** In lower case, without its dot; empty where there is none. */
export function extensionOf(filename: string): string {
  return /[^.]\.([^.]+)$/.exec(filename)?.[1].toLowerCase() ?? '';
}
