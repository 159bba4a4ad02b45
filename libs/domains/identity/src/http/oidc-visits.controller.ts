import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
// eslint-disable-next-line no-restricted-imports -- browsers come here, which is no operation of the API
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError } from '@aps/contracts';
import { OAuthCallbackQuery } from '@aps/dtos';
import { Public } from '@aps/guards';
import { appLink } from '@aps/platform/mail';
import { keepIn } from '@aps/platform/oauth';
import { RateLimit } from '@aps/platform/rate-limit';
import type { Request, Response } from 'express';
import { IdentityProviders, ProviderSignIns } from '../oidc';
import { BY_PROVIDER, OIDC_PATH } from './oidc.controller';

/** Where people set out to an identity provider, and where it sends them back to: browsers come here. */
@ApiExcludeController()
@Controller(OIDC_PATH.slice(1))
export class OidcVisitsController {
  constructor(
    private readonly providers: IdentityProviders,
    private readonly signIns: ProviderSignIns,
  ) {}

  @Get(':provider/start')
  @Public(BY_PROVIDER)
  @RateLimit('provider_sign_in')
  async start(@Param('provider') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    await orLedOn(name, request, response, async () => {
      const { url, browser } = await this.signIns.begin(name);
      keepIn(response, request, browser, OIDC_PATH);
      response.setHeader('Cache-Control', 'no-store').redirect(302, url);
    });
  }

  /** Leads on to the application with what the provider has sent, which is good for nothing without the cookie of the browser that set out. */
  @Get(':provider/callback')
  @Public(BY_PROVIDER)
  async callback(
    @Param('provider') name: string,
    @Query() { code, state, iss, error }: OAuthCallbackQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await orLedOn(name, request, response, () => {
      this.providers.get(name);
      leadOn(name, response, { code, state, iss, error });
    });
  }
}

/** To where the application takes in who comes back. */
function leadOn(name: string, response: Response, told: Record<string, string | undefined>): void {
  const given = Object.entries(told).filter((pair): pair is [string, string] => pair[1] !== undefined);
  response.redirect(302, `${appLink('/sign-in/', name)}?${new URLSearchParams(given).toString()}`);
}

/** Leads browsers on with the code of an error, as they are with one of the provider; whatever takes anything is a program, and is told. */
async function orLedOn(name: string, request: Request, response: Response, work: () => Promise<void> | void): Promise<void> {
  response.vary('Accept');
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DomainError) || request.accepts(['json', 'html']) !== 'html') throw error;
    leadOn(name, response, { error: error.code });
  }
}
