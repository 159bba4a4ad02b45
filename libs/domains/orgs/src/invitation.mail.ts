/** For so long the link is good. */
export const INVITATION_DAYS = 14;

/** What mail programs make links, addresses or other words of, and what is not seen. */
const LURES = /(?:=\?|\?=|[\p{C}\p{Zl}\p{Zp}.\u3002:/\\@<>])+/gu;

/**
 * The mail that carries the link. The name is a tenant's own words in a stranger's mailbox: without what mail programs act on, it can lure
 * nobody elsewhere.
 */
export function invitationMail(link: string, orgName: string): { subject: string; text: string } {
  const name = orgName.normalize('NFKC').replace(LURES, ' ').trim() || 'an organization';
  return {
    subject: `You are invited to join ${name}`,
    text: `You are invited to join "${name}".

Accept here within ${INVITATION_DAYS} days:
${link}

If you expected no invitation, ignore this mail.
`,
  };
}
