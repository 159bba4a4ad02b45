import { canonicalEmail, parseEmail } from './email-address';

const at = (local: string, domain = 'example.com') => `${local}@${domain}`;
/** Every character but the rarer ideographs and what is for private use. */
function* characters(): Generator<string> {
  for (let code = 0; code < 0x20000; code++) yield String.fromCodePoint(code);
  for (let code = 0xe0000; code < 0xe0200; code++) yield String.fromCodePoint(code);
}

describe('an e-mail address', () => {
  it('keeps what was typed beside what it is compared by', () => {
    expect(parseEmail(' Ada.Lovelace+Notes@Example.COM\n')).toEqual({
      typed: 'Ada.Lovelace+Notes@Example.COM',
      mailbox: 'Ada.Lovelace+Notes@example.com',
      canonical: 'ada.lovelace+notes@example.com',
    });
  });

  it.each([
    ['case', 'Ada@Example.com', 'aDA@eXAMPLE.COM'],
    ['composition', 'rene\u0301@example.com', 'ren\u00e9@example.com'],
    ['case and composition', 'RENE\u0301@example.com', 'ren\u00e9@example.com'],
    ['the writing of a domain', 'a@B\u00dcCHER.example', 'a@xn--bcher-kva.example'],
    ['the composition of a domain', 'a@bu\u0308cher.example', 'a@b\u00fccher.example'],
    ['a capital sharp s in a domain', 'a@STRA\u1e9eE.example', 'a@stra\u00dfe.example'],
  ])('is the same whatever %s', (_, one, other) => {
    expect(canonicalEmail(one)).toBe(canonicalEmail(other));
    expect(canonicalEmail(one)).not.toBeNull();
  });

  it.each([
    ['\u0130vo', 'ivo'],
    ['\u0131vo', 'ivo'],
    ['i\u0307vo', 'ivo'],
    ['stra\u00dfe', 'strasse'],
    ['\u0430da', 'ada'],
    ['a.b', 'ab'],
    ['a+b', 'a'],
  ])('%j is another one than %j', (one, other) => {
    expect(canonicalEmail(at(one))).not.toBeNull();
    expect(canonicalEmail(at(one))).not.toBe(canonicalEmail(at(other)));
  });

  it.each([
    ['the Kelvin sign', at('\u212aarl')],
    ['the long s', at('\u017fam')],
    ['a full-width letter', at('\uff41da')],
    ['a full-width at', 'ada\uff20example.com'],
    ['a ligature', at('\ufb01n')],
    ['a superscript', at('ada\u00b2')],
    ['a zero-width space', at('a\u200bda')],
    ['a zero-width joiner', at('a\u200dda')],
    ['a byte order mark', at('a\ufeffda')],
    ['a soft hyphen', at('a\u00adda')],
    ['a variation selector', at('ada\ufe0f')],
    ['a Hangul filler', at('a\u1160da')],
    ['a bidi override', at('\u202eada')],
    ['a bidi isolate', at('ada\u2066')],
    ['a control character', at('a\u0007da')],
    ['half a surrogate pair', at('a\ud800da')],
    ['a line break', at('ada\r\nBcc: b')],
    ['a no-break space', at('a\u00a0da')],
    ['an encoded word', at('=?utf-8?q?ada?=')],
    ['a second address', 'a@example.com,b@example.com'],
    ['a display name', 'Ada <ada@example.com>'],
    ['two ats', 'a@b@example.com'],
    ['no local part', '@example.com'],
    ['no at', 'example.com'],
    ['a domain of one label', 'a@example'],
    ['an empty label', 'a@example..com'],
    ['a hyphen at the edge of a label', 'a@-example.com'],
    ['a label of 64', `a@${'x'.repeat(64)}.com`],
    ['a full-width domain', 'a@\uff45xample.com'],
    ['an ideographic full stop', 'a@example\u3002com'],
    ['a full-width full stop', 'a@example\uff0ecom'],
    ['a percent-encoded domain', 'a@%65xample.com'],
    ['an IPv4 address', 'a@127.0.0.1'],
    ['a short IPv4 address', 'a@127.1'],
    ['a hexadecimal IPv4 address', 'a@0x7f.0.0x1'],
    ['broken Punycode', 'a@xn--a.example'],
    ['Punycode of a plain label', 'a@xn--a-.example'],
    ['empty Punycode', 'a@xn--.example'],
    [
      'an address that is too long in ASCII',
      `a@${'\u00fc'.repeat(60)}.${'\u00fc'.repeat(60)}.${'\u00fc'.repeat(60)}.${'\u00fc'.repeat(60)}.example`,
    ],
    ['nothing', ''],
  ])('is none with %s', (_, text) => {
    expect(parseEmail(text)).toBeNull();
  });

  it('has a canonical form that is its own, whatever characters are in it', () => {
    const wrong: string[] = [];
    for (const character of characters()) {
      for (const text of [at(`a${character}\u0323`), `a@${character}x.example`]) {
        const { canonical, typed } = parseEmail(text) ?? {};
        if (canonical !== undefined && (canonicalEmail(canonical) !== canonical || canonicalEmail(typed ?? '') !== canonical))
          wrong.push(text);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('of ASCII is reached from ASCII alone', () => {
    const impostors: string[] = [];
    for (const character of characters()) {
      if (character <= '\u007f') continue;
      for (const text of [at(`a${character}`), `a@${character}x.example`])
        if (/^[\x21-\x7e]+@(?!xn--)/.test(canonicalEmail(text) ?? '')) impostors.push(text);
    }
    expect(impostors.filter((text) => text === text.trim())).toEqual([]);
  });
});
