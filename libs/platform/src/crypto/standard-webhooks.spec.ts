import { Webhook } from 'standardwebhooks';
import { signed, WEBHOOK_SECRET, type SignedDelivery } from '../testing/signed-delivery';
import { isSignedWebhook, isTimely, webhookHeaders } from './standard-webhooks';

const verified = ({ headers, body }: SignedDelivery, secrets: string[]) => {
  const read = webhookHeaders(headers);
  return read !== null && isSignedWebhook(read, Buffer.from(body), secrets);
};
const EVENT = { type: 'order.paid', data: { name: 'Zoë & 東京 🚀' } };

describe('a signature', () => {
  it.each([
    ['base64 after whsec_', WEBHOOK_SECRET, false],
    ['base64 without a prefix', WEBHOOK_SECRET.slice(6), false],
    ['all characters of an old secret', 'polar_whs_old secret, with anything!', true],
    ['all characters, whsec_ among them', WEBHOOK_SECRET, true],
  ])('is good by a key of %s', (_, secret, wholeSecret) => {
    const delivery = signed(EVENT, { secret, wholeSecret });
    expect(verified(delivery, [secret])).toBe(true);
    expect(verified(delivery, ['whsec_bm90IHRoaXMgb25l'])).toBe(false);
    expect(verified(delivery, [])).toBe(false);
  });

  it('is over the bytes, however they are spaced and whatever they spell', () => {
    for (const body of ['{ "a" :\t1 }\r\n', '{"ä":"\\u00e4"}', '\ufeff{}', '', '   ', '{"a":1e400}']) {
      const delivery = signed(body);
      expect(verified(delivery, [WEBHOOK_SECRET])).toBe(true);
      expect(verified({ ...delivery, body: `${body} ` }, [WEBHOOK_SECRET])).toBe(false);
      // What our own verifier takes, theirs does, too.
      expect(() => new Webhook(WEBHOOK_SECRET).verify(body, delivery.headers, { jsonParse: false } as object)).not.toThrow();
    }
  });

  it('is one of several, by one of several secrets, while a secret is changed', () => {
    const [old, current] = [signed(EVENT, { id: 'x', secret: 'whsec_b2xk' }), signed(EVENT, { id: 'x' })];
    const both = `v1a,bm9uZQ== ${old.headers['webhook-signature']} ${current.headers['webhook-signature']} v1,`;
    const delivery = { ...current, headers: { ...current.headers, 'webhook-signature': both } };
    expect(
      [['whsec_b2xk'], [WEBHOOK_SECRET], ['whsec_bmV3', WEBHOOK_SECRET], ['whsec_bmV3']].map((secrets) => verified(delivery, secrets)),
    ).toEqual([true, true, true, false]);
  });

  it('is over the id and the time as well', () => {
    const delivery = signed(EVENT);
    for (const [name, value] of [
      ['webhook-id', 'msg_other'],
      ['webhook-timestamp', String(Number(delivery.headers['webhook-timestamp']) + 1)],
    ])
      expect(verified({ ...delivery, headers: { ...delivery.headers, [name]: value } }, [WEBHOOK_SECRET])).toBe(false);
  });

  it.each([
    ['no id', 'webhook-id', undefined],
    ['an empty id', 'webhook-id', ''],
    ['an id that is too long', 'webhook-id', 'x'.repeat(256)],
    ['an id with a space', 'webhook-id', 'a b'],
    ['no time', 'webhook-timestamp', undefined],
    ['a time that is none', 'webhook-timestamp', '2026-11-20'],
    ['a time with a sign', 'webhook-timestamp', '-5'],
    ['no signature', 'webhook-signature', undefined],
    ['a signature of another version', 'webhook-signature', 'v2,AAAA'],
    ['a bare signature', 'webhook-signature', 'AAAA'],
  ])('is none with %s', (_, name, value) => {
    expect(webhookHeaders({ ...signed(EVENT).headers, [name]: value })).toBeNull();
  });

  it('is good for five minutes, in either direction', () => {
    const now = new Date('2026-11-20T12:00:00Z');
    const timely = (seconds: number) =>
      isTimely(webhookHeaders(signed(EVENT, { at: new Date(now.getTime() + seconds * 1_000) }).headers)!, now);
    expect([-301, -300, 0, 300, 301].map(timely)).toEqual([false, true, true, true, false]);
  });
});
