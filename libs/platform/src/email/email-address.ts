import { domainToASCII, domainToUnicode } from 'node:url';

/** An address that mail can go to, in the forms that the service needs. */
export interface EmailAddress {
  /** As it was typed, trimmed and in NFC: what people are shown. */
  typed: string;
  /** Where mail goes: the local part as typed, the domain in ASCII. */
  mailbox: string;
  /**
   * What addresses are compared by. It is made here alone and stored beside what was typed; SQL compares it as it is. Databases fold
   * case by rules of their own (PostgreSQL takes U+0130 for an `i`, JavaScript does not), and where two rules meet, one person is
   * taken for another.
   */
  canonical: string;
}

const MAX = 254;

// Deliberately loose: the only proof of an address is a mail that arrives. Refuses what cannot be delivered or would break a header.
const LOCAL = /^[^\s@<>()[\]\\,;:"]{1,64}$/u;
/** Control, bidi and zero-width characters, variation selectors, fillers, and what Unicode may yet make of a code point. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;
/** Nothing that only turns into a label's letters, or into a dot, on its way to ASCII. */
const DOMAIN = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+$/u;
/** A top label begins with a letter: else the name could be read as an IPv4 address. */
const ASCII_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What a mail program would decode in a header (RFC 2047). No mailbox is named so. */
const ENCODED_WORD = '=?';

const isAscii = (text: string): boolean => /^[\x21-\x7e]*$/.test(text);

/** Whether every character is the preferred form of itself. What NFKC replaces (full-width letters, ligatures, the Kelvin sign) only looks like another. */
const isPlain = (text: string): boolean => isAscii(text) || [...text].every((character) => character.normalize('NFKC') === character);

/** Whether a label that says that it is Punycode stands for something. Asked here because versions of Node differ: since 24 one that cannot be decoded passes as it is. */
const decodes = (label: string): boolean =>
  !label.startsWith('xn--') || (!isAscii(domainToUnicode(label)) && domainToASCII(domainToUnicode(label)) === label);

/** @returns null when the text is no single plain address */
export function parseEmail(text: string): EmailAddress | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX || trimmed.includes(ENCODED_WORD) || UNSEEN.test(trimmed) || !isPlain(trimmed)) return null;
  const typed = trimmed.normalize('NFC');
  const at = typed.lastIndexOf('@');
  const [local, domain] = [typed.slice(0, Math.max(at, 0)), typed.slice(at + 1)];
  if (!LOCAL.test(local) || !DOMAIN.test(domain)) return null;
  const ascii = domainToASCII(domain.toLowerCase());
  // Lower case of an NFC text need not be NFC.
  const canonical = `${local.toLowerCase().normalize('NFC')}@${ascii}`;
  return ASCII_DOMAIN.test(ascii) && ascii.split('.').every(decodes) && canonical.length <= MAX
    ? { typed, mailbox: `${local}@${ascii}`, canonical }
    : null;
}

/** The form by which an address is compared and looked up; null, which equals nothing, for what is no address. */
export const canonicalEmail = (text: string): string | null => parseEmail(text)?.canonical ?? null;
