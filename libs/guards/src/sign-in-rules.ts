import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { Principal } from './principal';

type Rule = (orgId: string) => Promise<boolean>;

/**
 * Which sign-ins are good, and where. A session that began at an identity provider is good for nothing once that is none any more.
 *
 * Which organizations want their members to sign in by their identity provider. Sessions pass that have begun there. An API token passes that is
 * confined to the organization: nobody makes one whom it does not let in. One that is good for all of its user's could have been made by a
 * password, for any of them.
 */
@Injectable()
export class SignInRules {
  private wantsProvider: Rule = () => Promise.resolve(false);

  private isProvider: (name: string) => boolean = () => true;

  /** The domain that knows identity providers says which there are. It is asked whenever a session is looked up. */
  registerProviders(isProvider: (name: string) => boolean): void {
    this.isProvider = isProvider;
  }

  /** Whether who is let in as a session's user may be: a password is ours. */
  trusts(provider: string | null): boolean {
    return provider === null || this.isProvider(provider);
  }

  /** The domain that knows organizations says which. It is asked at each request, so its answer comes from memory. */
  register(rule: Rule): void {
    this.wantsProvider = rule;
  }

  /** Whether the caller's credential is good for this organization. */
  async admits({ via, provider, orgPin }: Principal, orgId: string): Promise<boolean> {
    return provider !== null || (via === 'api_token' && orgPin === orgId) || !(await this.wantsProvider(orgId));
  }
}

export const ssoRequired = () =>
  new DomainError('sso_required', 'This organization wants its members to sign in by its identity provider.');
