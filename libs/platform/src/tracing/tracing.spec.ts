import { loadConfig } from '@aps/platform/config';
import { beginSpan, inSpan, startTracing, traceparentOf } from '.';

jest.mock('@opentelemetry/sdk-trace-node', () => {
  throw new Error('The SDK was loaded');
});

describe('tracing without a collector', () => {
  const env = { DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' };

  it('loads no SDK, and hands the caller’s trace context on as it is', async () => {
    loadConfig(env);
    await (
      await startTracing('test')
    )();
    const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(traceparentOf(beginSpan('x', { parent: given }))).toBe(given);
    for (const parent of [undefined, 'nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])
      expect(traceparentOf(beginSpan('x', { parent }))).toBeUndefined();
    await expect(inSpan('x', {}, () => Promise.resolve(1))).resolves.toBe(1);
    await expect(inSpan('x', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('would load it with one', async () => {
    loadConfig({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    await expect(startTracing('test')).rejects.toThrow('The SDK was loaded');
  });

  it('refuses settings that cannot be meant', () => {
    for (const bad of [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, { OTEL_TRACES_SAMPLER_ARG: '2' }])
      expect(() => loadConfig({ ...env, ...bad })).toThrow(/OTEL_/);
  });
});
