import { TestService } from '@aps/testing';
import { AppModule as AdminApi } from '../../../apps/admin-api/src/app.module';
import { AppModule as Gateway } from '../../../apps/api-gateway/src/app.module';
import { PROXIED_PREFIXES } from '../../../apps/api-gateway/src/proxy';
import { seedBase } from '../../migrate/seed';

/** Gateway and admin-api as they are deployed, in this process, on a database of their own. Calls go to the gateway. */
export class House extends TestService {
  adminUrl: string;

  constructor() {
    super([Gateway], { settings: { REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' }, rawPaths: PROXIED_PREFIXES });
  }

  protected override async prepare(): Promise<void> {
    await seedBase(this.db);
    this.adminUrl = await this.serve([AdminApi]);
    this.configure({ ADMIN_API_URL: this.adminUrl });
  }
}
