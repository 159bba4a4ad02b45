import { Injectable } from '@nestjs/common';
import { SignInRules } from '@aps/guards';
import { SingleSignOn } from '../single-sign-on';

/** Tells who lets requests in which organizations want their members to sign in by their identity provider. */
@Injectable()
export class SingleSignOnRule {
  constructor(signOn: SingleSignOn, signIns: SignInRules) {
    signIns.register((orgId) => signOn.isWantedBy(orgId));
  }
}
