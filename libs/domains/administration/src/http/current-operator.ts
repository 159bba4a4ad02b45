import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { OrgScope, type AuthenticatedRequest } from '@aps/guards';
import type { ActingUser } from '@aps/identity';

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>();

/** The operator who makes the request, as audit rows keep them. */
export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext): ActingUser => {
  const { principal, requestId, confirm } = requestOf(context);
  if (!principal) throw new Error('This needs an operator: the route is public.');
  return { userId: principal.userId, requestId, confirm };
});

/** The organization in the path, for reads that go past its membership. */
export const OperatedOrg = createParamDecorator((_: unknown, context: ExecutionContext): OrgScope => {
  const request = requestOf(context);
  return OrgScope.system((request.params.org_id as string).toLowerCase(), 'platform administration', request);
});
