import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity.module';
import { AuthController } from './auth.controller';
import { EmailProofController } from './email-proof.controller';
import { OidcVisitsController } from './oidc-visits.controller';
import { OidcController } from './oidc.controller';
import { PasswordController } from './password.controller';
import { ProviderSessionsRule } from './provider-sessions';
import { TokensController } from './tokens.controller';
import { WaitlistController } from './waitlist.controller';

/** The public face of identity, for the gateway. */
@Module({
  imports: [IdentityModule],
  controllers: [
    AuthController,
    EmailProofController,
    OidcController,
    OidcVisitsController,
    PasswordController,
    TokensController,
    WaitlistController,
  ],
  providers: [ProviderSessionsRule],
})
export class IdentityHttpModule {}
