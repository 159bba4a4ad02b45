import { Injectable, type NestMiddleware } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { NextFunction, Request, Response } from 'express';
import { WebhookDoor } from '../intake/webhooks/webhook-door';

/** Answers all methods but POST at the address of a webhook; where there is none, they are answered as POST is. */
@Injectable()
export class WebhookMethods implements NestMiddleware {
  constructor(private readonly door: WebhookDoor) {}

  async use(request: Request<{ token: string }>, response: Response, next: NextFunction): Promise<void> {
    if (request.method === 'POST') return next();
    await this.door.channelOf(request.params.token);
    response.setHeader('Allow', 'POST');
    throw new DomainError('method_not_allowed', 'This address takes POST.');
  }
}
