import { Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { AllowedEmailsService } from './allowed-emails.service';
import { ApiTokensService } from './api-tokens.service';
import { DeparturesModule } from './departures';
import { EmailProofsService } from './email-proofs.service';
import { LoginAttemptsRepository } from './login-attempts.repository';
import { MailedLinksRepository } from './mailed-links.repository';
import { IdentityProviders, ProviderSignIns } from './oidc';
import { IdentitiesRepository } from './oidc/identities.repository';
import { PasswordsService } from './passwords.service';
import { PlatformAdminsService } from './platform-admins.service';
import { SessionsRepository } from './sessions.repository';
import { SessionsService } from './sessions.service';
import { SignupService } from './signup.service';
import { UsersService } from './users.service';
import { WaitlistService } from './waitlist.service';

const services = [
  AllowedEmailsService,
  ApiTokensService,
  EmailProofsService,
  IdentityProviders,
  PasswordsService,
  PlatformAdminsService,
  ProviderSignIns,
  SessionsService,
  SignupService,
  UsersService,
  WaitlistService,
];

/** Needs a global module of the application that binds `OrganizationPort`. */
@Module({
  imports: [DeparturesModule, EgressModule],
  providers: [...services, IdentitiesRepository, LoginAttemptsRepository, MailedLinksRepository, SessionsRepository],
  exports: services,
})
export class IdentityModule {}
