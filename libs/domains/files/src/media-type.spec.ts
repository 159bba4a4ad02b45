import { HEAD_BYTES, isText, mediaTypeOf } from './media-type';

const of = (content: Buffer | string, filename: string): string => {
  const bytes = Buffer.from(content as string);
  return mediaTypeOf(bytes.subarray(0, HEAD_BYTES), bytes.length, filename);
};
const hex = (text: string) => Buffer.concat([Buffer.from(text.replaceAll(' ', ''), 'hex'), Buffer.alloc(64)]);

describe('mediaTypeOf', () => {
  it.each([
    ['image/png', hex('89504e470d0a1a0a'), 'x.txt'],
    ['image/jpeg', hex('ffd8ffe0'), 'x.png'],
    ['image/gif', 'GIF89a\0\0', 'x'],
    ['image/webp', 'RIFF\x10\0\0\0WEBPVP8 ', 'x'],
    ['audio/wav', 'RIFF\x10\0\0\0WAVEfmt ', 'x'],
    ['application/octet-stream', 'RIFF\x10\0\0\0NONE', 'x.wav'],
    ['image/avif', '\0\0\0\x20ftypavif\0\0', 'x'],
    ['video/mp4', '\0\0\0\x20ftypisom\0\0', 'x'],
    ['application/pdf', '%PDF-1.7\n', 'x.txt'],
    ['application/zip', hex('504b0304'), 'x.png'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', hex('504b0304'), 'Report.XLSX'],
    ['application/zip', hex('504b0304'), 'x.constructor'],
    ['application/x-ole-storage', hex('d0cf11e0a1b11ae1'), 'x.__proto__'],
    ['application/octet-stream', hex('4d5a9000'), 'setup.exe'],
    ['application/octet-stream', hex('4d5a9000'), 'harmless.txt'],
  ])('tells %s from bytes, whatever the name', (type, content, name) => {
    expect(of(content, name)).toBe(type);
  });

  it.each([
    ['text/plain', 'hello', 'x'],
    ['text/plain', 'hello', 'x.png'],
    ['text/plain', 'hello', 'x.constructor'],
    ['text/markdown', '# hello', 'a.b.md'],
    ['text/csv', 'a,b\n1,2', 'X.CSV'],
    ['application/json', '{}', 'x.json'],
    ['message/rfc822', 'From: a@b.example\n\nhi', 'x.eml'],
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'x.svg'],
    ['text/html', 'hello', 'x.html'],
    ['text/html', '\n <!DOCTYPE HTML><p>', 'x.txt'],
    ['text/html', '<script>alert(1)</script>', 'x.md'],
    ['text/plain', Buffer.from('\ufeffh\u00e9', 'utf16le'), 'x.txt'],
    ['text/plain', '\u001b[31mred\u001b[0m', 'build.log'],
    ['application/octet-stream', 'a\0b', 'x.txt'],
    ['application/octet-stream', Buffer.from([0x68, 0xe9, 0x20]), 'latin1.txt'],
  ])('tells %s among texts', (type, content, name) => {
    expect(of(content, name)).toBe(type);
  });

  it('does not mind a character that its view ends in, but one that the file ends in', () => {
    const whole = `${'a'.repeat(HEAD_BYTES - 1)}é and more`;
    expect(of(whole, 'x.txt')).toBe('text/plain');
    expect(of(Buffer.from(whole).subarray(0, HEAD_BYTES), 'x.txt')).toBe('application/octet-stream');
  });
});

describe('isText', () => {
  it.each(['text/plain', 'text/html', 'application/json', 'message/rfc822', 'image/svg+xml'])('takes %s', (type) =>
    expect(isText(type)).toBe(true),
  );
  it.each(['image/png', 'application/pdf', 'application/rtf', 'application/octet-stream'])('takes no %s', (type) =>
    expect(isText(type)).toBe(false),
  );
});
