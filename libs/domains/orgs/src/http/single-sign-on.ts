import { Injectable } from '@nestjs/common';
import { SignInRules } from '@aps/guards';
import { OrgLimits } from '../org-limits';

/** Tells who lets requests in which organizations want their members to sign in by their identity provider. */
@Injectable()
export class SingleSignOn {
  constructor(limits: OrgLimits, signIns: SignInRules) {
    signIns.register((orgId) => limits.has(orgId, 'enforced_idp_sso'));
  }
}
