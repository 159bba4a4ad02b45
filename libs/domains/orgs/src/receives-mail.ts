import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { RECEIVES_MAIL } from './slugs.sql';

/** Notes that mail comes to addresses with an organization's slug, which is nobody else's for a while when it is deleted. For who makes such addresses. */
export const receivesMail = async (tx: Tx, { orgId }: OrgScope): Promise<void> => void (await tx.execute(RECEIVES_MAIL, [orgId]));
