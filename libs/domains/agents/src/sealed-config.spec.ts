import { canonicalJson, deepFreeze } from './sealed-config';

describe('canonicalJson', () => {
  it('gives one text to one value, however it was typed', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}');
    expect(canonicalJson({ a: 1, b: undefined })).toBe('{"a":1}');
  });

  it('orders keys by UTF-16 code units and writes numbers as ECMAScript does', () => {
    // The example of RFC 8785, section 3.2.3, and numbers of its appendix B.
    const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
    expect(canonicalJson(keys)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
    expect(canonicalJson([333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0]');
  });
});

describe('deepFreeze', () => {
  it('freezes what is inside, too', () => {
    const value = deepFreeze({ list: [{ x: 1 }] });
    expect(Object.isFrozen(value.list)).toBe(true);
    expect(Object.isFrozen(value.list[0])).toBe(true);
  });
});
