import { asText } from '@aps/platform/definitions';
import { compileExpression, evaluate, ExpressionError, type Compiled, type Scope } from './expression';
import { MAX_SIZE, Stopwatch } from './meter';
import type { Template } from './definition.types';

/** How deep lists and objects of a template nest. */
export const MAX_TEMPLATE_DEPTH = 32;
/** Of all expressions of a template together. */
const MAX_RENDER_MS = 500;

/** A text as it stands, or an expression with its `${` and `}` away. */
type Part = { text: string } | { expression: string };

/** Where in a template something stands, as in `lines.0.name`; empty at its top. */
export interface Placed {
  path: string;
}

/**
 * A template with its expressions evaluated. `"${e}"` alone keeps the type of the value; inside of text it becomes text: objects and lists
 * as JSON, null as `null`. What lists and objects hold is rendered, keys are not; `$${` is a `${` that is meant.
 *
 * @throws ExpressionError where an expression has no value, or the result is too large
 */
export function render(template: Template, scope: Scope): unknown {
  return new Rendering(scope).render(template, 0);
}

class Rendering {
  private readonly stopwatch = new Stopwatch();
  private size = 0;

  constructor(private readonly scope: Scope) {}

  render(template: Template, depth: number): unknown {
    if (depth > MAX_TEMPLATE_DEPTH) throw new ExpressionError(`The template nests more than ${MAX_TEMPLATE_DEPTH} levels deep`);
    if (typeof template === 'string') return this.text(template);
    this.pay(1);
    if (Array.isArray(template)) return template.map((item) => this.render(item, depth + 1));
    if (typeof template !== 'object' || template === null) return template;
    // By entries, and not by assignment: `__proto__` is a key like others.
    return Object.fromEntries(
      Object.entries(template).map(([key, inner]) => {
        this.pay(Buffer.byteLength(key));
        return [key, this.render(inner, depth + 1)];
      }),
    );
  }

  private text(template: string): unknown {
    const parts = partsOf(template);
    if ('problem' in parts) throw new ExpressionError(parts.problem);
    if (parts.length === 1 && 'expression' in parts[0]) {
      const value = this.value(parts[0].expression);
      this.pay(Buffer.byteLength(JSON.stringify(value)));
      return value;
    }
    return parts
      .map((part) => {
        const text = 'text' in part ? part.text : asText(this.value(part.expression));
        this.pay(Buffer.byteLength(text));
        return text;
      })
      .join('');
  }

  private value(text: string): unknown {
    if (this.stopwatch.exceeds(MAX_RENDER_MS)) throw new ExpressionError(`The template takes more than ${MAX_RENDER_MS} ms`);
    return evaluate(required(text), this.scope);
  }

  private pay(bytes: number): void {
    this.size += bytes;
    if (this.size > MAX_SIZE) throw new ExpressionError(`The result is larger than ${MAX_SIZE} bytes`);
  }
}

function required(text: string): Compiled {
  const expression = compileExpression(text);
  if ('problem' in expression) throw new ExpressionError(expression.problem);
  return expression;
}

/** Every expression of a template, with its place; of a text that cannot be read, none. */
export const expressionsOf = (template: Template): (Placed & { expression: string })[] =>
  textsOf(template, '').flatMap(({ path, text }) => {
    const parts = partsOf(text);
    return 'problem' in parts ? [] : parts.flatMap((part) => ('expression' in part ? [{ path, expression: part.expression }] : []));
  });

/** What keeps a template from being rendered with any scope: an unclosed `${`, expressions that are none, and nesting. */
export const templateProblems = (template: Template): (Placed & { problem: string })[] => {
  if (depthOf(template) > MAX_TEMPLATE_DEPTH) return [{ path: '', problem: `Nests more than ${MAX_TEMPLATE_DEPTH} levels deep` }];
  return textsOf(template, '').flatMap(({ path, text }) => {
    const parts = partsOf(text);
    if ('problem' in parts) return [{ path, problem: parts.problem }];
    return parts.flatMap((part) => {
      const expression = 'expression' in part ? compileExpression(part.expression) : null;
      return expression && 'problem' in expression ? [{ path, problem: expression.problem }] : [];
    });
  });
};

/** Whether a text is one expression and nothing else, so that it keeps the type of the value. */
export function isExpressionAlone(template: string): boolean {
  const parts = partsOf(template);
  return !('problem' in parts) && parts.length === 1 && 'expression' in parts[0];
}

/** As deep as it matters. */
function depthOf(template: Template, depth = 0): number {
  if (typeof template !== 'object' || template === null || depth > MAX_TEMPLATE_DEPTH) return depth;
  return Object.values(template).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner, depth + 1)), depth);
}

function textsOf(template: Template, path: string, depth = 0): (Placed & { text: string })[] {
  if (typeof template === 'string') return [{ path, text: template }];
  if (typeof template !== 'object' || template === null || depth > MAX_TEMPLATE_DEPTH) return [];
  return Object.entries(template).flatMap(([key, inner]) => textsOf(inner, path ? `${path}.${key}` : key, depth + 1));
}

function partsOf(template: string): Part[] | { problem: string } {
  const parts: Part[] = [];
  let text = '';
  let at = 0;
  for (let found = template.indexOf('${'); found >= 0; found = template.indexOf('${', at)) {
    text += template.slice(at, found);
    at = found + 2;
    if (text.endsWith('$')) {
      text = `${text.slice(0, -1)}\${`;
      continue;
    }
    const end = endOf(template, at);
    if (end < 0) return { problem: 'A ${ is not closed; $${ writes one that is meant' };
    if (text) parts.push({ text });
    parts.push({ expression: template.slice(at, end) });
    text = '';
    at = end + 1;
  }
  text += template.slice(at);
  if (text || !parts.length) parts.push({ text });
  return parts;
}

/** The place of the `}` that closes an expression; texts and comments in it are read as CEL reads them. -1 where there is none. */
function endOf(template: string, from: number): number {
  let open = 0;
  for (let at = from; at < template.length; at++) {
    const character = template[at];
    if (character === '"' || character === "'") {
      at = endOfText(template, at);
      if (at < 0) return -1;
    } else if (template.startsWith('//', at)) {
      at = template.indexOf('\n', at);
      if (at < 0) return -1;
    } else if (character === '{') open += 1;
    else if (character === '}' && open-- === 0) return at;
  }
  return -1;
}

/** The place of the last quote. A backslash takes what follows, in raw texts, too. */
function endOfText(template: string, from: number): number {
  const quote = template[from];
  const closing = template.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  for (let at = from + closing.length; at < template.length; at++) {
    if (template[at] === '\\') at += 1;
    else if (template.startsWith(closing, at)) return at + closing.length - 1;
  }
  return -1;
}
