import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { Principal } from './principal';

type Rule = (orgId: string) => Promise<boolean>;

/**
 * Which organizations want their members to sign in by their identity provider. Every session has begun with a password, as long as there
 * is no provider to sign in by; API tokens are made for programs, and pass.
 */
@Injectable()
export class SignInRules {
  private wantsProvider: Rule = () => Promise.resolve(false);

  /** The domain that knows organizations says which. It is asked at each request, so its answer comes from memory. */
  register(rule: Rule): void {
    this.wantsProvider = rule;
  }

  /** Whether how the caller has signed in is good for this organization. */
  async admits({ via }: Principal, orgId: string): Promise<boolean> {
    return via !== 'session' || !(await this.wantsProvider(orgId));
  }
}

export const ssoRequired = () =>
  new DomainError('sso_required', 'This organization wants its members to sign in by its identity provider.');
