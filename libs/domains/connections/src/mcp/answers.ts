import { z } from 'zod';
import { ServerFailed, type ListedResource, type ListedTool, type ServerResult } from './tool-server';

/*
 * What is read of a server's answers. Less strict than the protocol where nothing hangs on it: one odd field of one tool shall not hide all
 * the others.
 */

/** How deep the schema of a tool's arguments may nest: whatever looks at it recurses. */
const MAX_SCHEMA_DEPTH = 64;
/** The same of a result, which is no more than written and read again. */
const MAX_RESULT_DEPTH = 1_000;

const words = z.string().nullish();
const flag = z.boolean().optional().catch(undefined);
const page = { nextCursor: words };

export const ToolPage = z.object({
  ...page,
  tools: z.array(
    z.object({
      name: z.string().min(1),
      title: words,
      description: words,
      inputSchema: z.record(z.string(), z.unknown()).catch({ type: 'object' }),
      annotations: z.object({ title: words, readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag }).nullish().catch(null),
    }),
  ),
});

export const ResourcePage = z.object({
  ...page,
  resources: z.array(
    z.object({
      uri: z.string().min(1),
      name: words,
      title: words,
      mimeType: words,
      annotations: z.object({ lastModified: words }).nullish().catch(null),
    }),
  ),
});

export const ResourceContents = z.object({
  contents: z.array(z.object({ uri: z.string(), mimeType: words, text: words, blob: words })),
});

const Part = z.looseObject({
  type: z.string(),
  text: words,
  data: words,
  uri: words,
  name: words,
  mimeType: words,
  resource: z.object({ uri: z.string(), mimeType: words, text: words }).nullish(),
});

export const CallAnswer = z.object({
  content: z.array(Part).default([]),
  structuredContent: z.record(z.string(), z.unknown()).nullish(),
  isError: z.boolean().nullish(),
});

/** Whether something that has been read as JSON, of whatever depth that was, nests too deep to be walked. */
export const nests = (value: unknown, depth = MAX_RESULT_DEPTH): boolean =>
  typeof value === 'object' && value !== null && (depth === 0 || Object.values(value).some((inner) => nests(inner, depth - 1)));

/** @throws ServerFailed */
export function toTool({ name, title, description, inputSchema, annotations }: z.infer<typeof ToolPage>['tools'][number]): ListedTool {
  if (nests(inputSchema, MAX_SCHEMA_DEPTH)) throw new ServerFailed('The server has a tool whose arguments nest too deep.');
  const { title: annotated, ...hints } = annotations ?? {};
  return { name, title: title ?? annotated ?? null, description: description ?? '', input_schema: inputSchema, hints };
}

export function toResource({ uri, name, title, mimeType, annotations }: z.infer<typeof ResourcePage>['resources'][number]): ListedResource {
  return { uri, name: title ?? name ?? uri, media_type: mimeType ?? null, modified: annotations?.lastModified ?? null };
}

/** A result as a model reads it: its text, or where there is none its structured content; what is neither is named in a line. */
export function toResult({ content, structuredContent, isError }: z.infer<typeof CallAnswer>): ServerResult {
  const parts = content.map(toText);
  if (structuredContent && !content.some(({ type }) => type === 'text'))
    parts.unshift(nests(structuredContent) ? '[nests too deep to be written]' : JSON.stringify(structuredContent));
  return { content: parts.join('\n'), isError: isError === true };
}

function toText({ type, text, data, uri, name, mimeType, resource }: z.infer<typeof Part>): string {
  switch (type) {
    case 'text':
      return text ?? '';
    case 'image':
    case 'audio':
      return `[${type}: ${mimeType ?? 'of an unknown type'}, ${Buffer.byteLength(data ?? '', 'base64')} bytes]`;
    case 'resource_link':
      return `[resource: ${[name, uri, mimeType].filter(Boolean).join(', ')}]`;
    case 'resource':
      return [`[resource: ${[resource?.uri, resource?.mimeType].filter(Boolean).join(', ')}]`, resource?.text].filter(Boolean).join('\n');
    default:
      return `[${type}]`;
  }
}
