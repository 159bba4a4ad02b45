import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { actingOperator, type ActingUser, OrgScope } from './org-scope';
import { requestOf } from './principal';

/** The operator who makes the request, as audit rows keep them. */
export const CurrentOperator = createParamDecorator((_: unknown, context: ExecutionContext): ActingUser => {
  const request = requestOf(context);
  if (!request.principal) throw new Error('This needs an operator: the route is public.');
  return actingOperator(request.principal.userId, request);
});

/** The organization in the path, for reads that go past its membership. */
export const OperatedOrg = createParamDecorator((_: unknown, context: ExecutionContext): OrgScope => {
  const request = requestOf(context);
  return OrgScope.system((request.params.org_id as string).toLowerCase(), 'platform administration', request);
});
