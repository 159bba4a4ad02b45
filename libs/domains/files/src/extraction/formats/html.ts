import { Readability } from '@mozilla/readability';
import { convert } from 'html-to-text';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { literally, oneLine, table } from '../markdown';

/** What is used of the document object model, whose types only browsers bring. */
interface Node {
  nodeName: string;
  textContent: string | null;
  parentNode: Node | null;
  innerHTML: string;
  children: Iterable<Node>;
  getAttribute(name: string): string | null;
  querySelector(selector: string): Node | null;
  querySelectorAll(selector: string): Iterable<Node>;
  remove(): void;
}

/** Of the words of a page, less than this is not what it is about. */
const MIN_SHARE = 0.3;
/** Beyond these a page is taken for its text alone: what looks for an article takes time by the square of its depth. */
const MAX_DEPTH = 150;
const MAX_ELEMENTS = 30_000;
const UNSEEN = ['title', 'script', 'style', 'noscript', 'template', 'iframe', 'object', 'svg', 'canvas', 'select', 'button'].join(',');

/**
 * What an HTML page says, as Markdown. Where an article can be made out, it is that; else, or where the whole is wanted, all of it.
 *
 * Nothing that it refers to is fetched, and no script of it runs.
 */
export function htmlText(html: string, whole = false): { text: string; title: string | null } {
  const document = pageOf(html.replace(/<\/?(?:!doctype|html|head|body)\b[^>]*>/gi, ''));
  const title = oneLine(document.querySelector('title')?.textContent ?? '') || null;
  if (isVast(document)) return { text: convert(html, { wordwrap: false, limits: { maxDepth: MAX_DEPTH } }), title };
  for (const node of document.querySelectorAll(UNSEEN)) node.remove();
  const words = oneLine(document.body.textContent ?? '').length;
  const body = document.body.innerHTML;
  const article = whole ? null : new Readability(document, { keepClasses: true }).parse();
  const isFound = article?.content && oneLine(article.textContent ?? '').length >= words * MIN_SHARE;
  return { text: turndown().turndown(pageOf(isFound ? article.content! : body).body), title };
}

function isVast(document: Node): boolean {
  const depths = new Map<Node | null, number>();
  for (const node of document.querySelectorAll('*')) {
    const depth = (depths.get(node.parentNode) ?? 0) + 1;
    if (depth > MAX_DEPTH || depths.size === MAX_ELEMENTS) return true;
    depths.set(node, depth);
  }
  return false;
}

/** What parses it builds no page where a page lacks its tags. */
const pageOf = (html: string) =>
  (parseHTML(`<html><head></head><body>${html}</body></html>`) as unknown as { document: Node & { body: Node } }).document;

function turndown(): TurndownService {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' });
  service.escape = literally;
  service.addRule('pictures', { filter: ['img', 'picture', 'video', 'audio'], replacement: () => '' });
  service.addRule('links', {
    filter: 'a',
    replacement: (content, node) => {
      const href = (node as Node).getAttribute('href') ?? '';
      return /^https?:\/\//i.test(href) && content.trim() && !content.includes(href) ? `[${content}](${href})` : content;
    },
  });
  // Of a table within a table the inner one is text.
  service.addRule('tables', {
    filter: 'table',
    replacement: (content, node) => {
      const rows = [...(node as Node).querySelectorAll('tr')].map((row) =>
        [...row.children].filter(({ nodeName }) => /^t[dh]$/i.test(nodeName)).map(({ textContent }) => textContent ?? ''),
      );
      return isLayout(node as Node, rows) ? `\n\n${content}\n\n` : `\n\n${table(rows)}\n\n`;
    },
  });
  service.addRule('cells', { filter: ['td', 'th'], replacement: (content) => `${content}\n` });
  return service;
}

/** What is laid out by a table, and says nothing by it. */
const isLayout = (node: Node, rows: string[][]): boolean =>
  node.querySelector('table,h1,h2,h3,h4,pre') !== null || rows.every(({ length }) => length < 2);
