import { InternalTokens } from '@aps/platform/crypto';
import { aMark, repliesOf } from '../../api-gateway-e2e/support';
import { fresh, lastOf, type Governance, type Row, type Turn } from './governance';

/** The route of the next scenario is named ahead: its key of the environment is given to the worker when it starts. */
export const KEYED_ROUTE = { slug: 'keyed', variable: 'ROUTE_KEYED_API_KEY', key: 'sk-of-the-environment' };

/** A platform's key is stored, changed, lent and cleared, and an organization brings its own. */
export async function keysChanged(g: Governance): Promise<void> {
  const route = await g.route({ slug: KEYED_ROUTE.slug });
  const borrower = await g.route({ dialect: 'dialect_2', credential_route_id: route.id });
  const [model, borrowing] = [await g.model(route), await g.model(borrower)];
  const place = await g.org(model);
  const other = await g.org(model);
  const borrowers = await g.agent(other.org_id, borrowing);
  const spends = (header: string) => (turn: Turn) => turn.asked?.key === header;
  const bearer = (key: string) => spends(`authorization: Bearer ${key}`);
  const lent = (key: string) => spends(`x-api-key: ${key}`);

  await g.heard('the key of the environment is spent', place, bearer(KEYED_ROUTE.key));
  await g.putKey(route, 'sk-stored-1');
  await g.heard('the stored key is spent', place, bearer('sk-stored-1'));

  // A call that runs meanwhile ends as it began.
  const [running, mark] = [await g.talk(place), aMark()];
  g.upstream.hold(mark);
  const todo = { name: 'todo_write', arguments: { todos: [{ title: 'one', status: 'pending' }] } };
  await g.say(running, { mark, steps: [{ text: 'the first step', tool_calls: [todo] }, { text: 'the second step' }] });
  await g.upstream.arrived(mark);
  await g.putKey(route, 'sk-stored-2');
  await g.heard('the next key is spent', place, bearer('sk-stored-2'));
  await g.heard('the lent key is spent', borrowers, lent('sk-stored-2'));
  g.upstream.release(mark);
  expect(repliesOf(await g.settled(running, 1))).toMatchObject([{ content: 'the second step' }]);
  expect(g.upstream.asked(mark).map(({ key }) => key)).toEqual(Array(2).fill('authorization: Bearer sk-stored-1'));

  await g.setting(place, 'PATCH', 'ai/routes', { routes: { [route.slug]: { api_key: 'sk-of-the-organization' } } });
  await g.heard('the organization’s own key is spent', place, bearer('sk-of-the-organization'));
  await g.heard('nobody else spends it', other, bearer('sk-stored-2'));

  await g.putKey(route, null);
  await g.heard('the key of the environment is spent again', other, bearer(KEYED_ROUTE.key));
  await g.heard('and lent', borrowers, lent(KEYED_ROUTE.key));
  await g.heard('but not where there is an own one', place, bearer('sk-of-the-organization'));
  await g.setting(place, 'PATCH', 'ai/routes', { routes: { [route.slug]: { api_key: null } } });
  await g.heard('all spend the same', place, bearer(KEYED_ROUTE.key));
}

/** A model is disabled while a chat runs on it: its successor answers from the next turn on. */
export async function modelRetired(g: Governance): Promise<void> {
  const route = await g.route();
  const next = await g.model(route);
  const old = await g.model(route);
  const talk = await g.talk(await g.org(old));
  const mark = aMark();
  g.upstream.hold(mark);
  await g.say(talk, { mark });
  await g.upstream.arrived(mark);
  await g.operate('PATCH', `/models/${old.id}`, { enabled: false, replacement_model_id: next.id });
  await g.heard('the successor answers', talk.place, ({ asked }) => asked?.model === next.key);
  g.upstream.release(mark);
  const before = lastOf(await g.settled(talk, 1));
  expect(before).toMatchObject({ model: old.key, usage: { model: old.key, requested_model: old.key, reason: 'requested' } });

  await g.say(talk);
  const after = lastOf(await g.settled(talk, 2));
  expect(after).toMatchObject({ model: next.key, usage: { model: next.key, requested_model: old.key, reason: 'replaced' } });
  const { items } = (await g.act(talk, 'timeline', 'GET')).body as { items: { metadata: Record<string, unknown> }[] };
  expect(items.filter(({ metadata }) => metadata.kind === 'llm').map(({ metadata }) => [metadata.requested_model, metadata.model])).toEqual(
    [
      [old.key, next.key],
      [old.key, old.key],
    ],
  );
}

/** A route is switched off under a chat, by the platform and by the organization: a turn fails and says why, and goes on afterwards. */
export async function routeDisabled(g: Governance): Promise<void> {
  const route = await g.route();
  const model = await g.model(route);
  const place = await g.org(model);
  const other = await g.org(model);
  const off = ({ error, asked }: Turn) => error === 'route_disabled' && asked === undefined;
  const on = ({ error, asked }: Turn) => error === null && asked?.address === route.slug;
  const talk = await g.talk(place);
  await g.say(talk);
  await g.settled(talk, 1);

  const failsAndGoesOn = async (replies: number, enable: () => Promise<unknown>) => {
    await g.heard('turns fail', place, off);
    const mark = await g.say(talk);
    expect(await g.ended(talk, replies)).toMatchObject({ status: 'ERRORED', error: { code: 'route_disabled', retryable: false } });
    const { blocked_by, next_action } = (await g.act(talk, 'diagnosis', 'GET')).body;
    expect([blocked_by, next_action]).toMatchObject([{ kind: 'route', ref: 'route_disabled' }, 'fix_route']);
    expect(g.upstream.asked(mark)).toEqual([]);
    await enable();
    await g.heard('turns are answered', place, on);
    expect((await g.act(talk, 'continue')).status).toBe(200);
    expect(lastOf(await g.settled(talk, replies)).content).toBe(`You said: ${mark}`);
  };

  const pinned = await g.platform.admin('PATCH', `/ai/routes/${route.id}`, { enabled: false });
  expect([pinned.status, pinned.body.code]).toEqual([409, 'route_pinned']);
  await g.operate('PATCH', `/models/${model.id}`, { enabled: false });
  await g.operate('PATCH', `/ai/routes/${route.id}`, { enabled: false });
  await g.operate('PATCH', `/models/${model.id}`, { enabled: true });
  await failsAndGoesOn(2, () => g.operate('PATCH', `/ai/routes/${route.id}`, { enabled: true }));

  const switched = (enabled: boolean | null) => g.setting(place, 'PATCH', 'ai/routes', { routes: { [route.slug]: { enabled } } });
  await switched(false);
  await failsAndGoesOn(3, async () => {
    expect(on(await g.turn(other))).toBe(true);
    await switched(null);
  });
}

/** What is on a route moves to another one, of another dialect, while ten turns run on it. */
export async function routeRepointed(g: Governance): Promise<void> {
  const [source, target] = [await g.route(), await g.route({ dialect: 'dialect_2' })];
  const place = await g.org(await g.model(source));
  const talks = await Promise.all(Array.from({ length: 10 }, () => g.talk(place)));
  const marks = talks.map(aMark);
  g.upstream.hold(...marks);
  const todo = { name: 'todo_write', arguments: { todos: [{ title: 'one', status: 'pending' }] } };
  const steps = (i: number) => [...(i % 2 ? [{ text: 'a step', tool_calls: [todo] }] : []), { text: `answer ${i}` }];
  await Promise.all(talks.map((talk, i) => g.say(talk, { mark: marks[i], steps: steps(i) })));
  await Promise.all(marks.map((mark) => g.upstream.arrived(mark)));

  const moved = { catalog: 1, prompt_templates: 0, mode_presets: 0, feature_models: 0 };
  const repointed = await g.operate('POST', `/ai/routes/${source.id}/repoint`, { target_route_id: target.id });
  expect(repointed).toEqual({ moved, merged: [], left: { org_offerings: 0 } });
  await g.heard('turns go to the target', place, ({ asked }) => asked?.address === target.slug && asked.path === '/messages');
  g.upstream.release(...marks);
  const chats = await Promise.all(talks.map((talk) => g.settled(talk, 1)));
  expect(chats.map((chat) => repliesOf(chat))).toMatchObject(talks.map((_, i) => [{ content: `answer ${i}` }]));
  // A turn ends where it began.
  expect(marks.map((mark) => g.upstream.asked(mark).map(({ address }) => address))).toEqual(
    talks.map((_, i) => steps(i).map(() => source.slug)),
  );

  const later = await Promise.all(talks.map((talk) => g.say(talk)));
  await Promise.all(talks.map((talk) => g.settled(talk, 2)));
  expect(later.map((mark) => g.upstream.asked(mark).map(({ address }) => address))).toEqual(talks.map(() => [target.slug]));
}

/** The gateway's word about a caller counts for nothing when a caller says it. */
export async function headersForged(g: Governance): Promise<void> {
  const { platform } = g;
  const { user } = await g.done('GET', '/api/auth/me', undefined, platform.demo.admin_token);
  const claims = { user_id: user.id, email: user.email, credential_id: user.id, scope: '*', request_id: 'forged', aud: 'admin-api' };
  const word = await platform.database(async (db) => new InternalTokens().sign(claims, db.now()));
  const forged = { 'X-Aps-Internal': word, 'X-Aps-User-Id': user.id, 'X-Aps-Platform-Admin': 'true', 'X-Forwarded-User': user.email };
  const direct = (headers: Record<string, string>) => fetch(`${platform.app('admin-api').url}/api/admin/ai/routes`, { headers });
  // It is a good one: within the cluster it opens the door, and a bearer token does not.
  expect((await direct(forged)).status).toBe(200);
  expect((await direct({ Authorization: `Bearer ${platform.demo.admin_token}` })).status).toBe(401);

  const body = { slug: fresh('forged'), label: 'Forged', dialect: 'dialect_1' };
  for (const [as, refusal] of [
    [null, [401, 'not_authenticated']],
    [platform.demo.api_token, [403, 'platform_admin_required']],
  ] as const) {
    for (const [method, wish] of [
      ['GET', undefined],
      ['POST', body],
    ] as const) {
      const answer = await platform.call(method, '/api/admin/ai/routes', { as, body: wish, headers: forged });
      expect([answer.status, answer.body.code]).toEqual(refusal);
    }
  }
  const listed = await platform.call('GET', '/api/admin/ai/routes', {
    as: platform.demo.admin_token,
    headers: { 'X-Aps-Internal': 'forged' },
  });
  expect(listed.status).toBe(200);
  expect(listed.body.map(({ slug }: Row) => slug)).not.toContain(body.slug);
}
