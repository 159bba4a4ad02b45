import { Controller, Get, Query, Req, Res } from '@nestjs/common';
// eslint-disable-next-line no-restricted-imports -- browsers come here, which is no operation of the API
import { ApiExcludeController } from '@nestjs/swagger';
import { connectionId } from '@aps/contracts';
import { OAuthCallbackQuery } from '@aps/dtos';
import { Public } from '@aps/guards';
import { appLink } from '@aps/platform/mail';
import { keptIn } from '@aps/platform/oauth';
import type { Request, Response } from 'express';
import { ConnectionConsents } from '../consents/connection-consents';

/** Where authorization servers send people back to: browsers come here, and no clients. */
@ApiExcludeController()
@Controller('api/oauth')
export class OAuthCallbackController {
  constructor(private readonly consents: ConnectionConsents) {}

  /**
   * Leads on to the connection in the application, with `status`: what the connection is now, `error` where the consent was refused, or
   * `confirm`, with the `state` by which its user confirms.
   */
  @Get('callback')
  @Public()
  async callback(@Query() query: OAuthCallbackQuery, @Req() request: Request, @Res() response: Response): Promise<void> {
    const { connectionId: id, ...landed } = await this.consents.land(query, (name) => keptIn(request, name));
    response.redirect(302, `${appLink('/connections/', connectionId(id))}?${new URLSearchParams({ ...landed }).toString()}`);
  }
}
