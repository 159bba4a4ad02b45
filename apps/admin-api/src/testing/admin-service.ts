import { InternalTokens } from '@aps/platform/crypto';
import type { Answer, CallOptions } from '@aps/platform/testing';
import { aPerson, type Person } from '@aps/identity/testing';
import { testService, type Settings, type TestService } from '@aps/testing';
import { AppModule } from '../app.module';

type Options = Pick<CallOptions, 'headers'> & { as?: Person };

/** admin-api and an operator, who is the caller unless a spec says otherwise. */
export interface AdminService {
  t: TestService;
  readonly operator: Person;
  /** Calls below `/api/admin` as the gateway does. */
  call: (method: string, path: string, body?: unknown, options?: Options) => Promise<Answer>;
  /** The gateway's word about a caller. */
  internalToken: (person?: Person, claims?: { scope?: string; audience?: string; now?: Date }) => string;
}

export function adminService(settings?: Settings): AdminService {
  const t = testService([AppModule], { settings });
  let operator: Person;
  beforeAll(async () => {
    operator = await aPerson(t, { admin: true });
  });
  const internalToken: AdminService['internalToken'] = (
    { id, email, sessionId } = operator,
    { scope = '*', audience = 'admin-api', now = new Date() } = {},
  ) => new InternalTokens().sign({ user_id: id, email, credential_id: sessionId, scope, request_id: 'req', aud: audience }, now);
  const call: AdminService['call'] = (method, path, body, { as, headers } = {}) =>
    t.call(method, `/api/admin${path}`, { body, headers: { 'x-aps-internal': internalToken(as), 'x-request-id': 'req', ...headers } });
  return {
    t,
    get operator() {
      return operator;
    },
    call,
    internalToken,
  };
}
