import { connectionId } from '@aps/contracts';
import type { Connection } from '@aps/entities';
import { appLink } from '@aps/platform/mail';

/** A mail to who owns a connection, or owned it, without its receiver. Of what members have typed it says the slug alone. */
interface MailText {
  subject: string;
  text: string;
}

type Named = Pick<Connection, 'id' | 'slug'>;

const linkOf = ({ id }: Named) => appLink('/connections/', connectionId(id));

/** Somebody else has changed it. @param fields what of it */
export const changedMail = (connection: Named, fields: readonly string[]): MailText => ({
  subject: `Your connection ${connection.slug} was changed`,
  text: `Another member of your organization has changed your connection ${connection.slug}: ${fields.join(', ')}.

You find it here:
${linkOf(connection)}
`,
});

/** Somebody else has deleted it. */
export const deletedMail = ({ slug }: Named): MailText => ({
  subject: `Your connection ${slug} was deleted`,
  text: `Another member of your organization has deleted your connection ${slug}. Its credentials are gone here; revoke them at the service if nothing else uses them.
`,
});

/** It belongs to somebody else now. */
export const givenAwayMail = (connection: Named): MailText => ({
  subject: `Your connection ${connection.slug} has another owner`,
  text: `Your connection ${connection.slug} belongs to another member of your organization now, with the credentials that you gave it. If it shall not go on with them, revoke them at the service.
`,
});

/** Its server takes its credentials no more. */
export const refusedMail = (connection: Named): MailText => ({
  subject: `Your connection ${connection.slug} is refused by its service`,
  text: `The service behind your connection ${connection.slug} refuses its credentials. Until it takes them again or you give others, nobody can use its tools.

Give others, or have the service asked again, here:
${linkOf(connection)}
`,
});

/** Its server takes its consent for over. */
export const expiredMail = (connection: Named): MailText => ({
  subject: `Your connection ${connection.slug} has to be renewed`,
  text: `The service behind your connection ${connection.slug} does not take your consent any more. Until you sign in there again, nobody can use its tools.

Sign in here:
${linkOf(connection)}
`,
});
