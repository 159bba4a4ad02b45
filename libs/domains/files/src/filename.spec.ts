import { extensionOf, safeFilename } from './filename';

describe('safeFilename', () => {
  it.each([
    ['invoice.pdf', 'invoice.pdf'],
    ['Überweisung März.pdf', 'Überweisung März.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\x.txt', 'x.txt'],
    ['a/', 'file'],
    ['', 'file'],
    ['...', 'file'],
    ['.bashrc', 'bashrc'],
    ['a\0b\r\nc.txt', 'abc.txt'],
    ['gpj\u202egpj.exe', 'gpjgpj.exe'],
    ['a\u200b.txt', 'a.txt'],
    ['e\u0301.txt', 'é.txt'],
    ['a \t b.txt ', 'a b.txt'],
    [`a${'.'.repeat(1_000_000)}b.txt...`, `a${'.'.repeat(195)}.txt`],
    ['\ud800.txt', '\ufffd.txt'],
  ])('makes %j %j', (given, made) => expect(safeFilename(given)).toBe(made));

  it('keeps the extension of a name that is too long, and no half characters', () => {
    expect(safeFilename(`${'x'.repeat(500)}.pdf`)).toBe(`${'x'.repeat(196)}.pdf`);
    expect(safeFilename(`x.${'y'.repeat(500)}`)).toHaveLength(200);
    expect(safeFilename(`${'x'.repeat(195)}${'😀'.repeat(9)}.pdf`)).toBe(`${'x'.repeat(195)}.pdf`);
  });
});

it('extensionOf finds the last, in lower case', () => {
  expect(['a.b.PDF', 'a', '.pdf', 'a.'].map(extensionOf)).toEqual(['pdf', '', '', '']);
});
