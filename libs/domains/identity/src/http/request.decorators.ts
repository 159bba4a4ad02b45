import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AuthenticatedRequest } from '@aps/guards';
import type { ActingUser } from '../acting-user';

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>();

/** Id of the request, for audit rows. */
export const RequestId = createParamDecorator((_: unknown, context: ExecutionContext): string => requestOf(context).requestId);

/** The signed-in caller as audit rows name them. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): ActingUser | undefined => {
  const { principal, requestId } = requestOf(context);
  return principal && { userId: principal.userId, requestId };
});
