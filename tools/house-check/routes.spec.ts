import { buildDocument, operationsOf, type Document } from './testing/document';
import { expectCommitted } from './testing/snapshot';
import { nameOf, schemaName, SPECIFICATION } from './testing/specification';
import { allRoutes, templateOf, type Route } from './testing/surface';

let routes: Route[];
let document: Document;

beforeAll(async () => {
  routes = await allRoutes();
  document = await buildDocument();
});

describe('access declarations', () => {
  it('stand on every handler of every application', () => {
    expect(routes.length).toBeGreaterThan(80);
    expect(routes.filter((r) => !r.access).map((r) => `${r.app} ${r.handler}`)).toEqual([]);
  });

  it('are the committed ones', () => {
    const entries = routes.map(({ app, method, path, access }) => ({
      app,
      method,
      path,
      tier: access?.tier ?? 'NONE',
      ...(access?.area && { area: access.area }),
      ...(access?.sessionOnly && { session_only: true }),
      ...(access?.params && { params: access.params }),
      ...(access?.reads && { reads: true }),
      ...(access?.shows && { shows: access.shows }),
      ...(access?.ticketTopics && { ticket: true }),
    }));
    expectCommitted('access.snapshot.json', entries);
  });

  it('fit their paths: an organization tier needs :org_id, and :org_id needs one', () => {
    const odd = routes.filter(({ path, access, app }) => {
      const inOrg = path.includes(':org_id');
      const orgTier = ['member', 'admin', 'owner'].includes(access?.tier ?? '');
      return app === 'admin-api' ? access?.tier !== 'platform_admin' : inOrg !== orgTier;
    });
    expect(odd.map((r) => `${r.app} ${r.method} ${r.path} ${r.access?.tier}`)).toEqual([]);
  });

  it('name only parameters that the path has', () => {
    const odd = routes.flatMap((r) =>
      Object.keys(r.access?.params ?? {})
        .filter((name) => !r.path.includes(`:${name}`))
        .map((name) => `${r.handler} ${name}`),
    );
    expect(odd).toEqual([]);
  });

  it('let a token of no area do nothing but look at what belongs to its own user, and have itself stood in for', () => {
    const without = routes
      .filter((r) => r.access && !r.access.area && !r.access.sessionOnly && r.access.tier !== 'public')
      .map((r) => `${r.method} ${r.path}`);
    expect(without).toMatchInlineSnapshot(`
     [
       "GET /api/auth/me",
       "GET /api/models",
       "POST /api/realtime/tickets",
     ]
    `);
  });

  it('of public routes are these and no others', () => {
    expect(routes.filter((r) => r.access?.tier === 'public').map((r) => `${r.method} ${r.path}`)).toMatchInlineSnapshot(`
     [
       "GET /",
       "POST /api/auth/login",
       "GET /api/auth/oidc",
       "GET /api/auth/oidc/:provider/callback",
       "POST /api/auth/oidc/:provider/session",
       "GET /api/auth/oidc/:provider/start",
       "POST /api/auth/password/forgot",
       "POST /api/auth/password/reset",
       "POST /api/auth/signup",
       "POST /api/auth/verify",
       "POST /api/auth/verify/resend",
       "GET /api/daemon/daemon.mjs",
       "GET /api/daemon/install.sh",
       "POST /api/daemon/work/claim",
       "POST /api/daemon/work/heartbeat",
       "POST /api/daemon/work/result",
       "GET /api/docs",
       "GET /api/docs/:file",
       "ALL /api/hooks",
       "ALL /api/hooks/*path",
       "GET /api/invitations/:token",
       "GET /api/oauth/callback",
       "GET /api/openapi.json",
       "POST /api/waitlist",
       "ALL /api/webhooks",
       "ALL /api/webhooks/*path",
       "POST /api/webhooks/polar",
       "POST /api/hooks/email/:provider",
       "POST /api/hooks/in/:token",
     ]
    `);
  });

  it('appear in the OpenAPI document of every documented route', () => {
    const known = new Map(routes.map((r) => [`${r.method} ${templateOf(r.path)}`, r]));
    for (const { method, path, op } of operationsOf(document)) {
      const route = known.get(`${method} ${path}`);
      expect([path, op['x-access']?.tier, op['x-access']?.area ?? null]).toEqual([path, route?.access?.tier, route?.access?.area ?? null]);
    }
  });
});

describe('the specification', () => {
  const built = () => new Map(operationsOf(document).map(({ method, path, op }) => [`${method} ${path}`, op]));

  it('is built as a whole, at the decided paths', () => {
    const ops = built();
    expect(SPECIFICATION.map(nameOf).filter((name) => !ops.has(name))).toEqual([]);
  });

  it('decides status, tier and response of each operation', () => {
    const ops = built();
    const found: string[] = [];
    const decided: string[] = [];
    for (const spec of SPECIFICATION) {
      const op = ops.get(nameOf(spec))!;
      const success = Object.keys(op.responses).filter((s) => s < '300');
      const status = success.includes(String(spec.success)) ? spec.success : success.join();
      const content = op.responses[String(spec.success)]?.content;
      const response = content?.['text/event-stream'] ? 'streamed events (object)' : schemaName(content?.['application/json']?.schema);
      found.push(`${nameOf(spec)} ${status} ${op['x-access']?.tier} ${response}`);
      decided.push(`${nameOf(spec)} ${spec.success} ${spec.tier} ${spec.response}`);
    }
    expect(found).toEqual(decided);
  });

  it('and the documented success status is the one that the handler answers', () => {
    const ops = built();
    const odd = routes.filter((r) => {
      const op = ops.get(`${r.method} ${templateOf(r.path)}`);
      return op && !op.responses[String(r.success)];
    });
    expect(odd.map((r) => `${r.method} ${r.path} ${r.success}`)).toEqual([]);
  });
});
