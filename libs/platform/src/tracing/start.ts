import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { Logger } from '@nestjs/common';
import { tracingConfig } from './tracing.config';

/** How long the end of a process waits for a collector, and how long one request to it may take. */
const FLUSH_MS = 5_000;
/** A collector that is away fails every few seconds; that is said this often. */
const COMPLAIN_MS = 60_000;

const nothing = () => Promise.resolve();

/**
 * Has the process send its spans to the collector of the settings. Without one nothing is loaded, and spans stay the no-ops that they
 * are.
 *
 * @returns sends what is left
 */
export async function startTracing(app: string): Promise<() => Promise<void>> {
  const { endpoint, serviceName, ratio } = tracingConfig.value;
  if (!endpoint) return nothing;
  const [sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const logger = new Logger('Tracing');
  complainTo(logger);
  const byTraceId = new sdk.TraceIdRatioBasedSampler(ratio);
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName ?? `aps-${app}`,
      'service.instance.id': `${hostname()}:${process.pid}`,
    }),
    // Who calls from outside may decline to be traced, but not ask for more than the ratio. It follows from the id of the trace, so
    // all processes decide alike.
    sampler: new sdk.ParentBasedSampler({ root: byTraceId, remoteParentSampled: byTraceId }),
    spanProcessors: [
      new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: FLUSH_MS }), {
        maxQueueSize: 8_192,
      }),
    ],
  });
  // Only our own code carries trace contexts on, and only to our own processes.
  provider.register({ propagator: null });
  logger.log(`Sending spans to ${new URL(endpoint).origin}`);
  return () => Promise.race([provider.shutdown().catch(() => undefined), sleep(FLUSH_MS, undefined, { ref: false })]);
}

function complainTo(logger: Logger): void {
  let last = -Infinity;
  const complain = () => {
    if (performance.now() - last < COMPLAIN_MS) return;
    last = performance.now();
    logger.warn('Spans could not be sent to the collector');
  };
  diag.setLogger(
    { error: complain, warn: complain, info: () => undefined, debug: () => undefined, verbose: () => undefined },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
}
