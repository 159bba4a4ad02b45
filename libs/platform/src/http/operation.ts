import { applyDecorators, HttpCode, SetMetadata, type Type } from '@nestjs/common';
import { ApiExtension, ApiExtraModels, ApiHeader, ApiOperation, ApiProduces, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '@aps/contracts';
import type { Page, PageStream } from './pagination';

/** An answer that is no JSON object of one class. */
export interface OtherAnswer {
  description: string;
  /** Of an answer that is no JSON. */
  mediaType?: string;
  schema: Record<string, unknown>;
  /** Classes that the schema names. */
  models: Type<unknown>[];
  /** What a request may send for an answer of this kind. */
  headers?: { name: string; description: string }[];
  /** What an answer of this kind tells in its headers. */
  tells?: Record<string, string>;
  /** What a 304 says, where that may be the answer. */
  unchanged?: string;
}

/** A class, `[class]` for a list, `PageOf(class)` for a page, or one of the others below. */
type Answers = Type<unknown> | [Type<unknown>] | OtherAnswer;

/** What a handler of such answers returns; others write theirs, or say which class it is. */
type Returned<A> =
  A extends Type<infer One>
    ? One | PageStream<One extends Page<infer Item> ? Item : One>
    : A extends [Type<infer One>]
      ? One[] | PageStream<One>
      : A extends undefined
        ? void
        : unknown;

type InsteadOf<I> = I extends Type<infer One> ? One : never;

export interface OperationDeclaration<
  A extends Answers | undefined = Answers | undefined,
  I extends Type<unknown> | undefined = Type<unknown> | undefined,
> {
  /** At most 80 characters, without a full stop. */
  summary: string;
  description?: string;
  /** Without, it is a 204. */
  answers?: A;
  /** Where it is not 201 of a POST, 204 without an answer and else 200. Of two, the handler sets the second one. */
  status?: number | [number, number];
  /** What it answers where something else was asked for; the handler sets the status. */
  instead?: { status: number; answers: I };
  /**
   * What the operation itself refuses. What follows from verb, path, access, body and `Idempotent` is documented without; a house check
   * compares this list with what can be thrown.
   */
  refuses?: ErrorCode[];
}

/** Metadata of handlers: their {@link OperationDeclaration}. */
export const OPERATION = 'aps:operation';

/**
 * Says what a handler does, what it answers and what it refuses; beside the verb, which says where, and the access declaration. A
 * handler that returns something else does not compile.
 */
export function Operation<A extends Answers | undefined = undefined, I extends Type<unknown> | undefined = undefined>(
  declaration: OperationDeclaration<A, I>,
): <H extends (...args: never[]) => Returned<A> | InsteadOf<I> | Promise<Returned<A> | InsteadOf<I>>>(
  target: object,
  key: string | symbol,
  handler: TypedPropertyDescriptor<H>,
) => void {
  const { summary, description, answers, instead, status = answers ? [] : 204, refuses = [] } = declaration;
  const [usual, ...others] = [status].flat();
  const content = answers && contentOf(answers);
  return applyDecorators(
    SetMetadata(OPERATION, declaration),
    ApiOperation({ summary, description }),
    ApiExtension('x-refuses', refuses),
    // Which verb the handler has is not known yet: without a status the document's builder asks it.
    ...[usual, ...others].map((each) => ApiResponse({ ...(each !== undefined && { status: each }), ...content })),
    ...(instead?.answers ? [ApiResponse({ status: instead.status, type: instead.answers })] : []),
    ...(usual === undefined ? [] : [HttpCode(usual)]),
    ...(answers && 'schema' in answers ? documentOf(answers) : []),
  );
}

/** Server-sent events; the schema is that of one event's `data:` line. */
export const eventStream = (events: Type<unknown>, resumesAfter: string): OtherAnswer => ({
  description: 'The events. The schema is that of each one’s `data:` line; `event:` is its `type`.',
  mediaType: 'text/event-stream',
  schema: { $ref: getSchemaPath(events) },
  models: [events],
  headers: [{ name: 'Last-Event-ID', description: resumesAfter }],
});

/** Server-sent events of one answer, which cannot be resumed: each by its name, with the schema of its `data:` line. */
export const frames = (byEvent: Record<string, Type<unknown>>): OtherAnswer => ({
  description: `The events, each named by its \`event:\`: ${Object.entries(byEvent)
    .map(([event, data]) => `\`${event}\` (\`${data.name}\`)`)
    .join(', ')}.`,
  mediaType: 'text/event-stream',
  schema: { anyOf: Object.values(byEvent).map((data) => ({ $ref: getSchemaPath(data) })) },
  models: Object.values(byEvent),
});

/** The bytes of a file, or of a range of it. */
export const FILE_BYTES: OtherAnswer = {
  description: 'The bytes, of the file or of the range that was asked for.',
  mediaType: 'application/octet-stream',
  schema: { type: 'string', format: 'binary' },
  models: [],
  headers: [
    { name: 'Range', description: 'One range of bytes.' },
    { name: 'If-Range', description: 'The `ETag` of an answer before: of other bytes all are sent, and no range.' },
    { name: 'If-None-Match', description: 'The `ETag` of what is there already.' },
  ],
  tells: {
    ETag: 'Names the bytes.',
    'Content-Disposition': 'The name of the file, and whether a browser may show it.',
    'Content-Range': 'Of a 206: which bytes of how many.',
  },
  unchanged: 'The bytes are those that `If-None-Match` names.',
};

/** One of several classes, told apart by a field of each. */
export const oneOf = (field: string, byValue: Record<string, Type<unknown>>): OtherAnswer => ({
  description: `Its \`${field}\` is ${Object.keys(byValue)
    .map((value) => `\`${value}\``)
    .join(' or ')}.`,
  schema: {
    oneOf: Object.values(byValue).map((one) => ({ $ref: getSchemaPath(one) })),
    discriminator: {
      propertyName: field,
      mapping: Object.fromEntries(Object.entries(byValue).map(([value, one]) => [value, getSchemaPath(one)])),
    },
  },
  models: Object.values(byValue),
});

function contentOf(answers: Answers): object {
  if (!('schema' in answers)) return { type: answers };
  const { description, mediaType, schema, tells } = answers;
  const headers =
    tells && Object.fromEntries(Object.entries(tells).map(([name, what]) => [name, { description: what, schema: { type: 'string' } }]));
  return { description, ...(headers && { headers }), ...(mediaType ? { content: { [mediaType]: { schema } } } : { schema }) };
}

const documentOf = ({ mediaType, models, headers = [], unchanged }: OtherAnswer): MethodDecorator[] => [
  ApiExtraModels(...models),
  ...(mediaType ? [ApiProduces(mediaType)] : []),
  ...headers.map((header) => ApiHeader({ ...header, required: false, schema: { type: 'string' } })),
  ...(unchanged ? [ApiResponse({ status: 304, description: unchanged })] : []),
];
