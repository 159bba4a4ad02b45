import { Injectable, OnModuleInit } from '@nestjs/common';
import { SignInRules } from '@aps/guards';
import { OrgLimits } from '../org-limits';

/** Tells who lets requests in which organizations want their members to sign in by their identity provider. */
@Injectable()
export class SingleSignOn implements OnModuleInit {
  constructor(
    private readonly limits: OrgLimits,
    private readonly signIns: SignInRules,
  ) {}

  onModuleInit(): void {
    this.signIns.register((orgId) => this.limits.has(orgId, 'enforced_idp_sso'));
  }
}
