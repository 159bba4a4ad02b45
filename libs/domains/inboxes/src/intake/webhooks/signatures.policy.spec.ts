import { createHmac } from 'node:crypto';
import { signed, WEBHOOK_SECRET } from '@aps/platform/testing';
import type { ChannelConfig, SignatureScheme } from '../intake.port';
import { isAuthentic } from './signatures.policy';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const at = (seconds: number) => new Date(seconds * 1_000);

interface Case {
  scheme: SignatureScheme;
  secret: string;
  body: string;
  headers: Record<string, string>;
  now: Date;
  header?: string;
}

const verified = ({ scheme, secret, body, headers, now, header }: Case): boolean =>
  isAuthentic({ config: { signature: { scheme, header } }, signature_secret: secret }, { headers, body: Buffer.from(body) }, now);

// What the providers print in their documentation, but for Stripe, which prints none.
const STRIPE_BODY = '{"id":"evt_1","object":"event"}';
const GOOD: Record<Exclude<SignatureScheme, 'none'>, Case> = {
  standard_webhooks: {
    scheme: 'standard_webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    now: at(1614265330),
  },
  github: {
    scheme: 'github',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    now: at(0),
  },
  slack: {
    scheme: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    now: at(1531420618),
  },
  stripe: {
    scheme: 'stripe',
    secret: 'whsec_test_secret',
    body: STRIPE_BODY,
    headers: { 'stripe-signature': `t=1492774577,v1=${hmac('whsec_test_secret', `1492774577.${STRIPE_BODY}`)},v0=6ffbb59b2300aae63f27` },
    now: at(1492774577),
  },
  hmac_sha256_hex: {
    scheme: 'hmac_sha256_hex',
    secret: 's',
    body: '{}',
    headers: { 'x-sum': hmac('s', '{}') },
    now: at(0),
    header: 'X-Sum',
  },
};
const CASES = Object.entries(GOOD);
const SIGNATURE_OF = {
  standard_webhooks: 'webhook-signature',
  github: 'x-hub-signature-256',
  slack: 'x-slack-signature',
  stripe: 'stripe-signature',
  hmac_sha256_hex: 'x-sum',
};

describe('a signature', () => {
  it.each(CASES)('of %s is over every byte, by that secret', (_, good) => {
    expect(verified(good)).toBe(true);
    expect(verified({ ...good, body: `${good.body} ` })).toBe(false);
    expect(verified({ ...good, secret: 'whsec_b3RoZXI=' })).toBe(false);
    expect(verified({ ...good, secret: '' })).toBe(false);
  });

  it.each(CASES)('of %s is none without its headers, or with what else stands in them', (scheme, good) => {
    for (const name of Object.keys(good.headers)) {
      const { [name]: _, ...rest } = good.headers;
      expect(verified({ ...good, headers: rest })).toBe(false);
    }
    const name = SIGNATURE_OF[scheme as keyof typeof SIGNATURE_OF];
    for (const value of [
      '',
      'sha256=',
      'v0=',
      't=,v1=',
      't=1492774577',
      'v1,',
      '0'.repeat(64),
      'ü'.repeat(64),
      'sha256='.repeat(5_000),
      ','.repeat(50_000),
    ])
      expect(verified({ ...good, headers: { ...good.headers, [name]: value } })).toBe(false);
  });

  it.each(CASES.filter(([scheme]) => ['standard_webhooks', 'slack', 'stripe'].includes(scheme)))(
    'of %s is good for five minutes',
    (_, good) => {
      const after = (seconds: number) => verified({ ...good, now: new Date(good.now.getTime() + seconds * 1_000) });
      expect([-301, -300, 300, 301].map(after)).toEqual([false, true, true, false]);
    },
  );

  it('of Standard Webhooks is by either key that a secret makes', () => {
    for (const wholeSecret of [false, true]) {
      const { body, headers } = signed('{}', { wholeSecret });
      expect(verified({ scheme: 'standard_webhooks', secret: WEBHOOK_SECRET, body, headers, now: new Date() })).toBe(true);
    }
  });

  it('may be one of several while a secret is changed, and may say its algorithm', () => {
    const [t, v1] = [GOOD.stripe.headers['stripe-signature'].split(',')[0], hmac('old', `1492774577.${STRIPE_BODY}`)];
    const both = `${t},v1=${v1},${GOOD.stripe.headers['stripe-signature'].split(',')[1]}`;
    expect(verified({ ...GOOD.stripe, headers: { 'stripe-signature': both } })).toBe(true);
    expect(verified({ ...GOOD.hmac_sha256_hex, headers: { 'x-sum': `sha256=${hmac('s', '{}').toUpperCase()}` } })).toBe(true);
  });

  it('is asked for where a scheme is set alone, and is never given without a secret', () => {
    const request = { headers: {}, body: Buffer.from('') };
    const ask = (config: ChannelConfig) => isAuthentic({ config, signature_secret: null }, request, new Date());
    expect([ask({}), ask({ signature: { scheme: 'none' } }), ask({ signature: { scheme: 'github' } })]).toEqual([true, true, false]);
  });
});
