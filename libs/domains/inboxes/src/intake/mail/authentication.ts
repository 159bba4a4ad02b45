import { isIP } from 'node:net';
import { dkimVerify, dmarc, spf, type DNSResolver } from 'mailauth';
import type { MailAuth, MailEnvelope, Vouching } from './mail.types';

/**
 * Who vouches for a mail: SPF, where it is known who has delivered it, DKIM, and DMARC of both for whom it is shown to be from.
 *
 * @param from null where that is nobody, or not one alone: nobody can vouch for it then
 * @param asking whom each of them asks
 */
export async function authenticateMail(
  raw: Buffer,
  { mail_from, client }: MailEnvelope,
  from: string | null,
  asking: (by: Vouching) => DNSResolver,
): Promise<MailAuth> {
  const [policy, signed, delivered] = await Promise.all([
    // First, so that nothing that a sender has written comes before it.
    from !== null && dmarc({ headerFrom: from, resolver: asking('dmarc') }),
    dkimVerify(raw, { resolver: asking('dkim') }).catch(() => null),
    client && spf({ ip: client.ip, helo: bracketed(client.helo), sender: mail_from ?? undefined, resolver: asking('spf') }),
  ]);
  const signatures = signed?.results ?? [];
  const results = signatures.map(({ status }) => status.result);
  /** Whether one of them that aligns with whom it is from came to a result. */
  const isAligned = async (result: string, headerFrom: string, record: string): Promise<boolean> => {
    const dkimDomains = signatures.filter(({ status }) => status.result === result).map(({ signingDomain: domain }) => ({ domain }));
    const spfDomains = delivered?.status.result === result ? [delivered.domain] : [];
    const proven = await dmarc({ headerFrom, dkimDomains, spfDomains, resolver: () => Promise.resolve([[record]]) });
    return proven && proven.status.result === 'pass';
  };
  const judge = async (): Promise<string> => {
    // Of several addresses, or headers with one, others may see another than we do.
    if (from === null || !policy || signed?.headerFrom.length !== 1) return 'fail';
    if (policy.rr === undefined) return policy.status.result;
    if (await isAligned('pass', from, policy.rr)) return 'pass';
    // Who could vouch for it, and was not heard, may have done so.
    return (await isAligned('temperror', from, policy.rr)) ? 'temperror' : 'fail';
  };
  return {
    spf: delivered?.status.result ?? 'none',
    dkim: signed ? (results.find((result) => result === 'pass') ?? results[0] ?? 'none') : 'temperror',
    dmarc: await judge(),
  };
}

const bracketed = (helo: string): string => (isIP(helo) ? `[${helo}]` : helo);
