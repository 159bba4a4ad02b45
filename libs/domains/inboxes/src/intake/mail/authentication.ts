import { authenticate } from 'mailauth';
import type { MailAuth, MailEnvelope } from './mail.types';

type Resolver = NonNullable<Parameters<typeof authenticate>[1]>['resolver'];

/** Who vouches for a mail: SPF, where it is known who has delivered it, DKIM, and DMARC of both. */
export async function authenticateMail(raw: Buffer, { mail_from, client }: MailEnvelope, resolver: Resolver): Promise<MailAuth> {
  const { spf, dkim, dmarc } = await authenticate(raw, {
    ...{ resolver, sender: mail_from ?? undefined, disableArc: true, disableBimi: true, mta: 'inbox' },
    ...(client && { ip: client.ip, helo: client.helo }),
  });
  const signatures = dkim.results.map(({ status }) => status.result);
  return {
    spf: (client && spf && spf.status.result) || 'none',
    dkim: signatures.find((result) => result === 'pass') ?? signatures[0] ?? 'none',
    dmarc: (dmarc && dmarc.status.result) || 'none',
  };
}
