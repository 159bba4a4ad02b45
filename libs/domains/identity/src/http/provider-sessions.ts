import { Injectable } from '@nestjs/common';
import { SignInRules } from '@aps/guards';
import { IdentityProviders } from '../oidc';

/** Tells who lets requests in which identity providers there are. */
@Injectable()
export class ProviderSessionsRule {
  constructor(providers: IdentityProviders, signIns: SignInRules) {
    signIns.registerProviders((name) => providers.has(name));
  }
}
