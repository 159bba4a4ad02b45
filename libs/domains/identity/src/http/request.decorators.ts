import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { actingUser, requestOf, type ActingUser } from '@aps/guards';
import { addressOf } from '@aps/platform/rate-limit';
import type { SessionClient } from '../sessions.repository';

/** Id of the request, for audit rows. */
export const RequestId = createParamDecorator((_: unknown, context: ExecutionContext): string => requestOf(context).requestId);

const MAX_USER_AGENT = 256;

/** From where somebody signs in, as their list of sessions shows it. */
export const CurrentClient = createParamDecorator((_: unknown, context: ExecutionContext): SessionClient => {
  const request = requestOf(context);
  // Header values are bytes of any kind; a list shows what can be printed.
  const userAgent = request.headers['user-agent']
    ?.replace(/[^\x20-\x7e]/g, '')
    .slice(0, MAX_USER_AGENT)
    .trim();
  return { userAgent: userAgent || null, ip: addressOf(request.ip) };
});

/** The signed-in caller as audit rows name them. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): ActingUser | undefined => {
  const request = requestOf(context);
  return request.principal && actingUser(request.principal.userId, request);
});
