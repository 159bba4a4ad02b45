import { context, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api';

export type { Span } from '@opentelemetry/api';

/** Does nothing until a process registers a provider (see start.ts), so that nobody has to ask whether spans are wanted. */
const tracer = trace.getTracer('aps');

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface SpanOptions {
  kind?: keyof typeof KINDS;
  /** W3C trace context that another process gave; given but undefined: the span begins a trace. Not given: the span that is active here. */
  parent?: string;
  /** Ids, names of ours and counts; never what somebody wrote, and no address. */
  attributes?: Attributes;
}

function parentOf(options: SpanOptions) {
  if (!('parent' in options)) return context.active();
  const parts = options.parent === undefined ? null : TRACEPARENT.exec(options.parent);
  return parts
    ? trace.setSpanContext(ROOT_CONTEXT, { traceId: parts[1], spanId: parts[2], traceFlags: parseInt(parts[3], 16) & 1, isRemote: true })
    : ROOT_CONTEXT;
}

/** Begins a span that its caller ends. */
export function beginSpan(name: string, options: SpanOptions = {}): Span {
  return tracer.startSpan(name, { kind: KINDS[options.kind ?? 'internal'], attributes: options.attributes }, parentOf(options));
}

/** Runs something within a span, which is the active one for all that it does. What it throws marks the span as failed. */
export async function inSpan<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
  const span = beginSpan(name, options);
  try {
    return await context.with(trace.setSpan(context.active(), span), () => run(span));
  } catch (error) {
    failSpan(span, kindOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** @param kind a code or the name of a class; never a message, which may quote what a user or a model wrote */
export function failSpan(span: Span, kind: string): void {
  span.setAttribute('error.type', kind);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function kindOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : typeof name === 'string' ? name.slice(0, 60) : 'unknown';
}

/** The trace context of a span for another process of ours. While nothing is traced it is the one that the span's parent came with. */
export function traceparentOf(span: Span): string | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return isSpanContextValid({ traceId, spanId, traceFlags }) ? `00-${traceId}-${spanId}-0${traceFlags & 1}` : undefined;
}
