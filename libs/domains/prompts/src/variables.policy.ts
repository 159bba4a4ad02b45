import { DomainError, refuseField } from '@aps/contracts';
import { asText } from '@aps/platform/definitions';

export const MAX_RENDERED_CHARS = 2_000_000;

const VARIABLE = /\{\{[ \t]*([\p{L}_][\p{L}\p{N}_.-]{0,127})[ \t]*\}\}/gu;

/** Names that texts ask for, each once, in the order in which they come. */
export const variablesIn = (texts: (string | null)[]): string[] => [
  ...new Set(texts.flatMap((text) => [...(text ?? '').matchAll(VARIABLE)].map(([, name]) => name))),
];

/**
 * Texts with their variables filled in, once: what a value holds is not looked at again. Other values than strings go in as JSON.
 *
 * @throws DomainError 422 `missing_variables`, which names them all; `prompt_too_long`
 */
export function render<T extends Record<string, string | null>>(texts: T, variables: Record<string, unknown>): T {
  const names = variablesIn(Object.values(texts));
  const missing = names.filter((name) => !Object.hasOwn(variables, name));
  if (missing.length) {
    const msg = 'The template asks for this variable.';
    const problems = missing.map((name) => ({ loc: ['body', 'variables', name], msg, type: 'semantic.missing_variables' }));
    throw new DomainError('missing_variables', 'Variables of the template are missing.', { problems });
  }
  const values = new Map(names.map((name) => [name, asText(variables[name])]));
  return Object.fromEntries(Object.entries(texts).map(([part, text]) => [part, text && filled(text, values)])) as T;
}

function filled(text: string, values: ReadonlyMap<string, string>): string {
  // Before it is built: a short text may ask for a long value thousands of times.
  let length = text.length;
  for (const [place, name] of text.matchAll(VARIABLE)) length += values.get(name)!.length - place.length;
  if (length > MAX_RENDERED_CHARS)
    throw refuseField('prompt_too_long', ['variables'], `With its variables the prompt has more than ${MAX_RENDERED_CHARS} characters.`);
  return text.replace(VARIABLE, (_, name: string) => values.get(name)!);
}
