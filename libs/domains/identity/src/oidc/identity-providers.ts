import { Injectable, Logger } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { Database, type Db } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { IdentitiesRepository } from './identities.repository';
import { OidcClient } from './oidc-client';
import { oidcConfig, type Provider } from './oidc.config';

/** How long is believed that nobody has ever signed in by a provider, milliseconds. */
const BELIEVED_MS = 1_000;

/** Who says who people are, beside us. */
@Injectable()
export class IdentityProviders {
  private readonly logger = new Logger('IdentityProviders');
  private readonly clients = new Map<Provider, OidcClient>();
  private everUsed = { is: false, until: 0 };
  private hasWarned = false;

  constructor(
    private readonly db: Database,
    private readonly egress: Egress,
    private readonly identities: IdentitiesRepository,
  ) {}

  list(): readonly Provider[] {
    return oidcConfig.value.providers;
  }

  has(name: string): boolean {
    return this.list().some((one) => one.name === name);
  }

  /** @throws DomainError `not_found` */
  get(name: string): { provider: Provider; client: OidcClient } {
    const provider = this.list().find((one) => one.name === name);
    if (!provider) throw notFound('Identity provider');
    let client = this.clients.get(provider);
    if (!client) this.clients.set(provider, (client = new OidcClient(this.egress, provider)));
    return { provider, client };
  }

  /**
   * Whether organizations can want their members to sign in by a provider: there is one, or people have signed in by one, whose organizations must
   * not take passwords because a setting got lost. Comes from memory, or nearly so.
   */
  async areInUse(db: Db = this.db): Promise<boolean> {
    if (this.list().length) return true;
    if (this.everUsed.until < performance.now())
      this.everUsed = { is: await this.identities.hasAny(db), until: performance.now() + BELIEVED_MS };
    if (!this.hasWarned) {
      this.hasWarned = true;
      const what = this.everUsed.is ? 'their members cannot sign in' : 'passwords are taken';
      this.logger.warn(`Organizations want single sign-on (enforced_idp_sso), and OIDC_PROVIDERS names no identity provider: ${what}.`);
    }
    return this.everUsed.is;
  }
}
