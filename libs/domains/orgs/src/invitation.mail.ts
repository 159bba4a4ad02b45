import { INVITATION_DAYS } from './invitations.repository';

/**
 * The mail that carries the link. The name is a tenant's own words in a stranger's mailbox: without what mail programs make links of,
 * it can lure nobody elsewhere.
 */
export function invitationMail(link: string, orgName: string): { subject: string; text: string } {
  const name = orgName.replace(/[\p{C}.:/\\@<>]+/gu, ' ').trim();
  return {
    subject: `You are invited to join ${name}`,
    text: `You are invited to join the organization "${name}".

Accept here within ${INVITATION_DAYS} days:
${link}

If you expected no invitation, ignore this mail.
`,
  };
}
