import { createHash } from 'node:crypto';
import { hashOf } from './canonical-json';

const SHARED = { k: 1 };
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('the hash of a value', () => {
  it.each<[string, unknown, string]>([
    ['nothing', {}, '{}'],
    ['keys that are names elsewhere', { toJSON: { b: 1, a: 2 }, length: 0 }, '{"length":0,"toJSON":{"a":2,"b":1}}'],
    ['one object under two keys', { a: SHARED, ab: SHARED }, '{"a":{"k":1},"ab":{"k":1}}'],
    ['members that are left out', { a: 1, b: undefined }, '{"a":1}'],
    ['keys, in the order of their UTF-16 units at every depth', { b: { z: 1, a: [3, 1] }, a: null }, '{"a":null,"b":{"a":[3,1],"z":1}}'],
    [
      'keys of RFC 8785, 3.2.3',
      { '\u20ac': 'e', '\r': 'c', '\ufb33': 'h', '1': '1', '\ud83d\ude00': 's', '\u0080': 'x', '\u00f6': 'o' },
      '{"\\r":"c","1":"1","\u0080":"x","\u00f6":"o","\u20ac":"e","\ud83d\ude00":"s","\ufb33":"h"}',
    ],
    [
      'numbers of RFC 8785, 3.2.2',
      JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0, 1.0]'),
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1]',
    ],
    [
      'characters of RFC 8785, 3.2.2',
      JSON.parse('"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"'),
      '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"',
    ],
  ])('is of canonical JSON: %s', (_, definition, canonical) => expect(hashOf(definition)).toBe(sha256(canonical)));

  it('does not change with how the same was written, and changes with everything else', () => {
    const a = hashOf(JSON.parse('{"stages":[],"default":{"action":"accept"}}'));
    expect(hashOf(JSON.parse('{ "default" : {"\\u0061ction":"accept"}, "stages":[] }'))).toBe(a);
    const others = ['{"stages":[]}', '{"default":{"action":"drop"},"stages":[]}', '{"default":{"action":"accept"}}'];
    expect(new Set([a, ...others.map((text) => hashOf(JSON.parse(text)))]).size).toBe(4);
    expect(hashOf('\u00e9')).not.toBe(hashOf('e\u0301'));
  });

  it('is SHA-256 in hex', () => expect(hashOf({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'));
});
