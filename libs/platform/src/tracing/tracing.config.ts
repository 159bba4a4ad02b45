import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const tracingConfig = configSection('tracing', {
  endpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    z.url({ protocol: /^https?$/ }).optional(),
    'Collector that takes spans as OTLP over HTTP, e.g. http://collector:4318. Empty: nothing is traced',
  ),
  serviceName: setting(
    'OTEL_SERVICE_NAME',
    z.string().max(255).optional(),
    'Name of the process in traces. Empty: aps- and the name of the app',
  ),
  ratio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    z.coerce.number().min(0).max(1).default(1),
    'Share of traces that are recorded, 0 to 1. The same in all processes',
  ),
});
