import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import type { Database } from '@aps/platform/database';
import { PlatformAdminsService } from './platform-admins.service';

/** Lets in who has proven the address of the first administrator before the configuration named it. */
export async function seedIdentity(db: Database): Promise<void> {
  await new PlatformAdminsService(db, new Audit(), new Broadcaster()).ensureBootstrapAdmin();
}
