import { EgressError } from '@aps/platform/egress';
import { connectionError, httpError, scrub, streamError } from './errors';
import { backoffMs, DEFAULT_LIMITS, retryAfterMs } from './retry';

const KEY = 'sk-proj-Abc123Abc123Abc123';
const classify = (status: number, body: unknown = {}) => httpError(status, typeof body === 'string' ? body : JSON.stringify(body), [KEY]);

describe('classification', () => {
  it.each([
    [400, 'provider_rejected', false],
    [401, 'provider_auth', false],
    [402, 'provider_auth', false],
    [403, 'provider_auth', false],
    [404, 'provider_rejected', false],
    [408, 'provider_timeout', true],
    [409, 'provider_unavailable', true],
    [413, 'provider_rejected', false],
    [422, 'provider_rejected', false],
    [425, 'provider_unavailable', true],
    [429, 'provider_rate_limited', true],
    [500, 'provider_unavailable', true],
    [503, 'provider_unavailable', true],
    [504, 'provider_timeout', true],
    [529, 'provider_unavailable', true],
  ])('%i is %s, retryable %s', (status, code, retryable) => {
    expect(classify(status)).toMatchObject({ code, retryable, status });
  });

  it.each([
    { error: { code: 'context_length_exceeded', message: 'too much' } },
    { error: { message: "This model's maximum context length is 8192 tokens." } },
    { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    { type: 'error', error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 1 + 2 > 3' } },
    [
      {
        error: {
          code: 400,
          message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  ])('knows a context overflow: %j', (body) => {
    expect(classify(400, body)).toMatchObject({ code: 'context_overflow', retryable: false });
  });

  it.each([
    { error: { message: 'The prompt is too long.' } },
    { error: { message: 'Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000', type: 'tokens' } },
  ])('knows one by 413: %j', (body) => {
    expect(classify(413, body).code).toBe('context_overflow');
  });

  it.each([
    '<html>413 Request Entity Too Large</html>',
    { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
  ])('takes 413 for none where it is of bytes: %j', (body) => {
    expect(classify(413, body).code).toBe('provider_rejected');
  });

  it.each([
    {
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API. Please go to Plans & Billing.' },
    },
    { error: { type: 'invalid_request_error', message: 'You have reached your specified API usage limits.' } },
    { error: { code: 'billing_hard_limit_reached', message: 'It has been reached' } },
    { error: { message: 'Insufficient account balance' } },
    { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
  ])('knows by 400 what is of the account: %j', (body) => {
    expect(classify(400, body)).toMatchObject({ code: 'provider_auth', retryable: false });
  });

  it.each(['billing_lookup', 'create_api_key', 'usage_limits'])('takes the name of a tool (%s) for no word of an account', (name) => {
    expect(classify(400, { error: { message: `Invalid schema for function '${name}'` } }).code).toBe('provider_rejected');
  });

  it('takes no other 400 for one', () => {
    expect(
      classify(400, { error: { message: 'max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens' } }).code,
    ).toBe('provider_rejected');
  });

  it('reads the retry delay of the Google form', () => {
    expect(classify(429, { error: { code: 429, details: [{ '@type': 'x' }, { retryDelay: '36.5s' }] } }).retryAfterMs).toBe(36_500);
  });

  it('names the code of a failed connection, never its address', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:443'), { code: 'ECONNREFUSED' });
    expect(connectionError(refused)).toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      message: 'the connection to the provider failed (ECONNREFUSED)',
    });
    expect(connectionError(Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' }))).toMatchObject({
      code: 'provider_unavailable',
      retryable: false,
    });
    expect(connectionError(new Error('blocked 10.0.0.7'))).toMatchObject({
      retryable: false,
      message: expect.not.stringContaining('10.0.0.7'),
    });
  });

  it.each(['dns', 'connect', 'network'] as const)('takes what the guard passes on (%s) as the plain connection’s error', (reason) => {
    const guarded = (code?: string) =>
      connectionError(
        new EgressError(reason, 'It failed.', code === undefined ? {} : { cause: Object.assign(new Error('at 10.0.0.7'), { code }) }),
      );
    for (const code of [
      'ECONNREFUSED',
      'ENOTFOUND',
      'EAI_AGAIN',
      'ESERVFAIL',
      'ETIMEDOUT',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ]) {
      const plain = connectionError(Object.assign(new Error(), { code }));
      expect(guarded(code)).toMatchObject({ code: plain.code, retryable: plain.retryable, message: plain.message });
    }
    expect(guarded()).toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      message: `the connection to the provider failed (${reason})`,
    });
  });

  it('retries what took the guard too long, and nothing that it refuses', () => {
    expect(connectionError(new EgressError('timeout', 'The address took too long to connect.'))).toMatchObject({
      code: 'provider_timeout',
      retryable: true,
    });
    for (const reason of ['address', 'scheme', 'port', 'url', 'userinfo'] as const) {
      expect(connectionError(new EgressError(reason, 'It may not be.'))).toMatchObject({
        code: 'provider_rejected',
        retryable: false,
        message: 'the address of the provider may not be called: It may not be.',
      });
    }
  });
});

describe('scrubbing', () => {
  it('takes out the key in any form and whatever looks like one', () => {
    for (const text of [
      `bad key ${KEY}.`,
      'Incorrect API key provided: sk-proj-****************wxyz.',
      'Rate limit reached in organization org-Abc123Abc123Abc123Abc123 on tokens per min: Limit 30000, Used 29000.',
      'Project `proj_Abc123Abc123Abc123` has no access.',
      'Authorization: Bearer abc.def',
      'https://x/?key=zzz123&y=1',
      'AIzaSyD-1234567890abcdef',
      `token ${'a1'.repeat(20)}`,
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig',
      Buffer.from(KEY).toString('base64'),
    ]) {
      expect(scrub(text, [KEY])).toContain('[redacted]');
      expect(scrub(text, [KEY])).not.toMatch(/Abc123|wxyz|abc\.def|zzz123|1234567890abcdef|a1a1|sig$/);
    }
    expect(scrub('weird&key', ['weird&key'])).toBe('[redacted]');
  });

  it('leaves words and ids alone', () => {
    const text = 'model gpt-5.2-codex of 8b6ad4e1-3e0c-4a52-9a53-1f3f8c7a1234 failed: invalid_request_error';
    expect(scrub(text, [KEY])).toBe(text);
  });

  it.each(['a-', 'a1-', 'eyJ-', 'eyJaaaaaaaa', 'spend', 'Bearer ', 'sk-', '?key', '\0'])(
    'comes to the end of a million characters of %j',
    (piece) => {
      const message = piece.repeat(1_000_000 / piece.length);
      expect(streamError({ error: { code: 400, type: message, message } }, [KEY]).message.length).toBeLessThan(600);
    },
  );

  it('comes to the end of a long text of hyphens, cut or not', () => {
    expect(scrub('a-'.repeat(500_000), [])).toHaveLength(1_000_000);
  });

  it('shows no half of a key, wherever a long text is cut', () => {
    for (let before = 3_970; before <= 4_000; before++)
      expect(streamError({ error: { message: `${'\n'.repeat(before)}${KEY} is no key` } }, [KEY]).message).not.toMatch(/sk-|Abc/);
  });

  it('shows no page that is not JSON', () => {
    expect(classify(502, `<html>${KEY}</html>`).message).toBe('the provider answered 502');
  });
});

describe('waiting', () => {
  it('jitters from half a second to 2 s, then to 8 s', () => {
    const error = classify(500);
    const waits = [1, 2, 3].map((tries) =>
      [0, 0.999999].map((random) => Math.round(backoffMs(tries, error, DEFAULT_LIMITS, () => random))),
    );
    expect(waits).toEqual([
      [500, 2000],
      [500, 8000],
      [500, 8000],
    ]);
  });

  it('reads Retry-After in seconds, milliseconds or as a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfterMs({ 'retry-after': '2' }, now)).toBe(2000);
    expect(retryAfterMs({ 'retry-after': '2', 'retry-after-ms': '1500' }, now)).toBe(1500);
    expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, now)).toBe(5000);
    expect(retryAfterMs({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, now)).toBe(0);
    expect(retryAfterMs({ 'retry-after': 'soon' }, now)).toBeUndefined();
  });

  it('honours it up to 60 s', () => {
    const after = (ms: number) => backoffMs(1, httpError(429, '', [], ms), DEFAULT_LIMITS, () => 0);
    expect([after(3000), after(120_000), after(0)]).toEqual([3000, 60_000, 500]);
  });
});
