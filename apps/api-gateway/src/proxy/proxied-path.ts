import type { ProxyTarget } from '@aps/platform/http';

/**
 * A part of the API that another deployable answers: everything below `prefix` is streamed there and back, bodies untouched.
 * A new one is one more row of the table in `index.ts`.
 */
export interface ProxiedPath {
  /** Names it in stack traces and logs. */
  name: string;
  /** In lower case, without a slash at its end. */
  prefix: `/api/${string}`;
  /** Read with every request, because the configuration is loaded after the table. */
  target: () => ProxyTarget;
  /**
   * So large a body is read whole before the service behind is asked, so that it takes no connection to it by coming slowly. Larger ones, and
   * all where nothing is said, are streamed, by connections of their own.
   */
  wholeBodies?: number;
  /**
   * `platform_admin`: the gateway lets operators in only, and tells the service who they are by a signed token that only `audience`
   * takes. `public`: the service itself proves each request, e.g. by a signature over its body; `provenBy` names a header that it needs for that.
   */
  access: { tier: 'platform_admin'; audience: string } | { tier: 'public'; provenBy?: 'authorization' };
}
