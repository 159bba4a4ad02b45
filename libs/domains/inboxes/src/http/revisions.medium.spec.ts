import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule } from '@aps/billing';
import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { InboxRevision } from '@aps/entities';
import { GovernanceModule, ModelUsers, OwnModelsService } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { hashOf } from '@aps/platform/definitions';
import { sql, times, type Answer } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { RuleSets } from '../rules/rule-sets';
import { InboxesHttpModule } from '.';

// Dozens of requests at once: on a busy machine they take longer than a test usually may.

const t = testService([...BASE_MODULES, AgentsHttpModule, BillingModule, GovernanceModule, InboxesHttpModule]);
let org: TestTeam;
let inbox: string;
let path: string;
beforeAll(() => addModel(t, 'test-model'));
beforeEach(async () => {
  org = await aTeam(t);
  inbox = (await t.make('POST', `${org.path}/inboxes`, { as: org.owner, body: { name: 'Orders', slug: 'orders' } })).id as string;
  path = `${org.path}/inboxes/${inbox}/revisions`;
});

type Revision = { id: string; version: number; status: string; hash: string };
const DROP = { default: { action: 'drop' } };
/** A definition of its own for each name. */
const tagged = (tag: string) => ({ default: { action: 'accept', tags: [tag] } });
const matching = (then: object, when: object = { field: 'subject', op: 'exists' }) => ({
  stages: [{ id: 'one', kind: 'match', when, then }],
});
const classifying = (more: object) => ({
  stages: [{ id: 'triage', kind: 'classifier', instruction: 'Sort.', labels: [{ label: 'a', action: 'drop' }], ...more }],
});
const push = (definition: unknown, as = org.owner) => t.call('POST', path, { as, body: { definition } });
const pushed = async (definition: unknown) => (await t.make('POST', path, { as: org.owner, body: { definition } })) as Revision;
const act = (what: 'deploy' | 'rollback', id: string, as = org.owner) => t.call('POST', `${path}/${id}/${what}`, { as });
const deployed = async (definition: unknown) => {
  const { id } = await pushed(definition);
  return (await t.make('POST', `${path}/${id}/deploy`, { as: org.owner })).revision as Revision;
};
const discard = (id: string) => t.call('DELETE', `${path}/${id}`, { as: org.member });
const list = async () => (await t.make('GET', path, { as: org.member })) as unknown as Revision[];
const statuses = async () => (await list()).map(({ version, status }) => `${version} ${status}`);
const current = async () => (await t.make('GET', `${org.path}/inboxes/${inbox}`, { as: org.member })).current_revision as Revision | null;
const audited = async () => (await t.audit({ org_id: org.id })).map(({ action }) => action).filter((action) => /revision/.test(action));
const seen = ({ status, body }: Answer) => [status, body.code ?? body.version];

describe('pushing', () => {
  it('makes a draft', async () => {
    const { status, body } = await push(DROP);
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: body.id, inbox_id: inbox, version: 1, status: 'draft', hash: hashOf(DROP), definition: DROP },
        ...{ created_by: org.owner.id, deployed_by: null, deployed_at: null },
        ...{ created_at: body.created_at, updated_at: body.updated_at },
      },
    ]);
    expect(await t.make('GET', `${path}/${body.id as string}`, { as: org.member })).toEqual(body);
    expect(await list()).toEqual([body]);
    expect(await current()).toBeNull();
  });

  it('overwrites the open draft, and writes nothing where it says that already', async () => {
    const first = (await push(tagged('a'))).body;
    const second = await push(tagged('b'));
    expect([second.status, second.body]).toMatchObject([
      200,
      { id: first.id, version: 1, hash: hashOf(tagged('b')), definition: tagged('b') },
    ]);
    const again = await push({ default: { tags: ['b'], action: 'accept' } });
    expect([again.status, again.body]).toEqual([200, second.body]);
    expect(await audited()).toEqual(['inbox_revision.created', 'inbox_revision.updated']);
  });

  it('finds what is deployed in the newest revision alone', async () => {
    await deployed(tagged('a'));
    expect(seen(await push(tagged('a')))).toEqual([200, 1]);
    await deployed(tagged('b'));
    expect(seen(await push(tagged('a')))).toEqual([201, 3]);
    expect(await statuses()).toEqual(['3 draft', '2 deployed', '1 archived']);
  });

  it('lists many of them a few at a time where they are large', async () => {
    const large = { org_id: org.id, inbox_id: inbox, definition: { text: 'x'.repeat(200_000) }, hash: 'x' };
    const all: string[] = [];
    for (let version = 1; version <= 7; version++) all.unshift(await t.insert(InboxRevision, { ...large, version }));
    const { body, headers } = await t.call('GET', path, { as: org.member });
    expect([(body as unknown as Revision[]).map(({ id }) => id), headers.get('content-length')]).toEqual([all, null]);
  });

  it('tells every problem by its place', async () => {
    const { status, body } = await push({
      stages: [{ id: 'A', kind: 'match', when: { field: 'nothing', op: 'exists' }, then: { action: 'hop' } }],
      more: 1,
    });
    const problems = body.detail as { loc: unknown[] }[];
    expect([status, body.code, problems.map(({ loc }) => loc.join('.')).sort()]).toEqual([
      422,
      'validation_error',
      [
        'body.definition.more',
        'body.definition.stages.0.id',
        'body.definition.stages.0.then.action',
        'body.definition.stages.0.when.field',
      ],
    ]);
    for (const definition of [undefined, null, [], 'x', { stages: {} }]) expect((await push(definition)).status).toBe(422);
    expect(await list()).toEqual([]);
  });

  it('makes one draft of many that come at once', async () => {
    const answers = await times(30, (i) => push(tagged(String(i))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(29);
    expect(await statuses()).toEqual(['1 draft']);
  });

  it('repeats its answer', async () => {
    const key = { 'Idempotency-Key': uuidv7() };
    const twice = () => t.call('POST', path, { as: org.owner, headers: key, body: { definition: DROP } });
    expect([(await twice()).status, (await twice()).status]).toEqual([201, 201]);
  });
});

describe('deploying', () => {
  it('makes a draft what messages are judged by, and archives what was that', async () => {
    const first = await pushed(tagged('a'));
    const { status, body } = await act('deploy', first.id);
    expect([status, body]).toMatchObject([
      200,
      {
        revision: { id: first.id, status: 'deployed', deployed_by: org.owner.id },
        previous_revision_id: null,
        superseded_revision_ids: [],
      },
    ]);
    expect(await current()).toEqual({ id: first.id, version: 1, deployed_at: (body.revision as { deployed_at: string }).deployed_at });
    const second = await pushed(tagged('b'));
    expect((await act('deploy', second.id)).body).toMatchObject({ previous_revision_id: first.id });
    expect(await statuses()).toEqual(['2 deployed', '1 archived']);
    expect((await current())!.id).toBe(second.id);
    const last = (await t.audit({ org_id: org.id, action: 'inbox_revision.deployed' })).at(-1);
    expect(last).toMatchObject({ target_id: second.id, metadata: { inbox_id: inbox, version: 2, previous_revision_id: first.id } });
  });

  it('writes nothing of what is deployed, and refuses what was', async () => {
    const first = await deployed(tagged('a'));
    const before = [await list(), await audited()];
    expect((await act('deploy', first.id)).body).toEqual({ revision: first, previous_revision_id: null, superseded_revision_ids: [] });
    expect([await list(), await audited()]).toEqual(before);
    await deployed(tagged('b'));
    expect(seen(await act('deploy', first.id))).toEqual([409, 'not_a_draft']);
  });

  it('supersedes older drafts, wherever they come from', async () => {
    const common = { org_id: org.id, inbox_id: inbox, definition: DROP, hash: 'x' };
    const old = await t.insert(InboxRevision, { ...common, version: 1 });
    const tried = await t.insert(InboxRevision, { ...common, version: 2 });
    await t.insert(InboxRevision, { ...common, version: 3 });
    expect((await act('deploy', tried)).body).toMatchObject({ superseded_revision_ids: [old] });
    expect(await statuses()).toEqual(['3 draft', '2 deployed', '1 superseded']);
    expect(seen(await act('deploy', old))).toEqual([409, 'not_a_draft']);
    expect(seen(await act('rollback', old))).toEqual([409, 'not_previously_deployed']);
    expect((await discard(old)).status).toBe(204);
  });

  const AGENT = uuidv7();
  it.each<[string, object, object]>([
    [
      'an agent that is not there',
      matching({ action: 'accept', target: { kind: 'agent', id: AGENT } }),
      { stage_id: 'one', field: 'then.target' },
    ],
    ['what is no id', matching({ action: 'accept', target: { kind: 'agent', id: 'clerk' } }), { stage_id: 'one', field: 'then.target' }],
    ['a process', { default: { action: 'accept', target: { kind: 'process', id: 'prc_x' } } }, { stage_id: null, field: 'default.target' }],
    ['no pattern', matching({ action: 'drop' }, { field: 'subject', op: 'matches', value: '(' }), { stage_id: 'one', field: 'when.value' }],
    ['no model', classifying({ model: 'gone' }), { stage_id: 'triage', field: 'model', valid_values: ['test-model'] }],
  ])('refuses %s, and changes nothing', async (_, definition, error) => {
    await deployed(tagged('a'));
    const { id } = await pushed(definition);
    const before = await list();
    const { status, body } = await act('deploy', id);
    expect([status, body]).toMatchObject([422, { code: 'revision_invalid', errors: [{ valid_values: [], ...error }] }]);
    expect(body.errors).toEqual([{ problem: expect.any(String), valid_values: [], ...error }]);
    expect(body.detail).toEqual([
      {
        loc: ['path', 'revision_id'],
        msg: expect.stringContaining((body.errors as { problem: string }[])[0].problem),
        type: 'semantic.revision_invalid',
      },
    ]);
    expect(await list()).toEqual(before);
    expect((await current())!.version).toBe(1);
  });

  it('tells all that is wrong at once', async () => {
    const target = { kind: 'agent', id: AGENT };
    const { id } = await pushed({
      default: { action: 'accept', target },
      stages: [
        ...matching({ action: 'accept', target }, { field: 'subject', op: 'matches', value: '(' }).stages,
        ...classifying({ model: 'gone' }).stages,
      ],
    });
    const errors = (await act('deploy', id)).body.errors as { stage_id: string | null; field: string }[];
    expect(errors.map(({ stage_id, field }) => `${stage_id} ${field}`)).toEqual([
      'one when.value',
      'null default.target',
      'one then.target',
      'triage model',
    ]);
  });

  it('knows agents of its organization alone', async () => {
    const agentOf = async (team: TestTeam) =>
      (await t.make('POST', `${team.path}/agents`, { as: team.owner, body: { name: 'Clerk' } })).id as string;
    const to = (id: string) => matching({ action: 'accept', target: { kind: 'agent', id } });
    const theirs = await pushed(to(await agentOf(await aTeam(t))));
    expect(seen(await act('deploy', theirs.id))).toEqual([422, 'revision_invalid']);
    expect((await deployed(to(await agentOf(org)))).status).toBe('deployed');
  });

  it('lets those choose models who may', async () => {
    const { id } = await pushed(classifying({ model: 'test-model' }));
    await entitle(t, { direct_model_choice: false });
    const refused = await act('deploy', id);
    await entitleAsBefore(t);
    expect(seen(refused)).toEqual([403, 'entitlement_required']);
    expect((await act('deploy', id)).status).toBe(200);
  });

  it('keeps the models that are named, until other rules are deployed or the inbox is gone', async () => {
    const key = 'our-model';
    const entry = await addModel(t, key, { owner_org_id: org.id, route_id: await addRoute(t, key) });
    const deleting = () => t.get(OwnModelsService).delete(org.scope, entry);
    const refused = { code: 'model_in_use', context: { used_by: [{ kind: 'inbox', id: inbox, name: 'Orders' }] } };
    const users = () => t.get(ModelUsers).naming(t.db, [key], 10);
    const first = await deployed(classifying({ model: key }));
    await expect(deleting()).rejects.toMatchObject(refused);
    await deployed(DROP);
    await pushed(classifying({ model: key }));
    expect(await users()).toEqual([]);
    await act('rollback', first.id);
    expect(await users()).toMatchObject([{ kind: 'inbox', id: inbox, org_id: org.id, model_key: key }]);
    await expect(deleting()).rejects.toMatchObject(refused);
    await t.call('DELETE', `${org.path}/inboxes/${inbox}`, { as: org.owner });
    await deleting();
  });

  it('keeps nobody from asking who names models, whatever stands for no stages', async () => {
    await deployed({ stages: null });
    expect(await t.get(ModelUsers).naming(t.db, ['nobody-s-model'], 10)).toEqual([]);
  });

  it('has one deployed at any moment, whoever pushes, deploys and rolls back at once', async () => {
    await deployed(tagged('first'));
    let done = false;
    const odd: unknown[] = [];
    const watching = (async () => {
      while (!done) {
        const [row] = await t.db.query(
          sql<{ n: number; current: boolean }>(
            `SELECT count(r.id)::int AS n, bool_and(r.id = i.current_revision_id) AS current FROM inboxes i
             LEFT JOIN inbox_revisions r ON r.inbox_id = i.id AND r.status = 'deployed' WHERE i.id = $1`,
          ),
          [inbox],
        );
        if (row.n !== 1 || !row.current) odd.push(row);
      }
    })();
    const answers = await times(40, async (i) => {
      if (i % 4 === 0) return push(tagged(String(i)));
      const all = await list();
      if (i % 4 === 1) return act('rollback', all.at(-1)!.id);
      return act('deploy', i % 4 === 2 ? all[0].id : (await pushed(tagged(String(i)))).id);
    });
    done = true;
    await watching;
    expect(odd).toEqual([]);
    expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status))).toEqual([]);
    const all = await list();
    expect(all.map(({ version }) => version)).toEqual(Array.from(all, (_, i) => all.length - i));
    expect(all.filter(({ status }) => status === 'draft').length).toBeLessThanOrEqual(1);
  });

  it('makes one deployment of many of the same draft', async () => {
    const { id } = await pushed(tagged('a'));
    const answers = await times(20, () => act('deploy', id));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await audited()).filter((action) => action === 'inbox_revision.deployed')).toHaveLength(1);
  });
});

describe('rolling back', () => {
  it('deploys what was deployed before, and leaves drafts alone', async () => {
    const first = await deployed(tagged('a'));
    const second = await deployed(tagged('b'));
    const draft = await pushed(tagged('c'));
    const { status, body } = await act('rollback', first.id);
    expect([status, body]).toMatchObject([
      200,
      { revision: { id: first.id, status: 'deployed' }, previous_revision_id: second.id, superseded_revision_ids: [] },
    ]);
    expect(await statuses()).toEqual(['3 draft', '2 archived', '1 deployed']);
    expect((await current())!.id).toBe(first.id);
    expect(seen(await act('rollback', first.id))).toEqual([409, 'already_deployed']);
    expect(seen(await act('rollback', draft.id))).toEqual([409, 'not_previously_deployed']);
    expect((await audited()).at(-1)).toBe('inbox_revision.rolled_back');
  });

  it('asks for nothing that it names: it is the way out', async () => {
    const { id } = await t.make('POST', `${org.path}/agents`, { as: org.owner, body: { name: 'Clerk' } });
    const first = await deployed(matching({ action: 'accept', target: { kind: 'agent', id } }));
    await deployed(DROP);
    await t.make('DELETE', `${org.path}/agents/${id as string}`, { as: org.owner });
    expect((await act('rollback', first.id)).status).toBe(200);
  });
});

describe('discarding', () => {
  it('takes drafts away, and their numbers with them', async () => {
    const { id } = await pushed(tagged('a'));
    expect([(await discard(id)).status, (await discard(id)).status]).toEqual([204, 404]);
    expect(seen(await push(tagged('a')))).toEqual([201, 2]);
    expect(await audited()).toEqual(['inbox_revision.created', 'inbox_revision.discarded', 'inbox_revision.created']);
  });

  it('keeps what is deployed, or was', async () => {
    const first = await deployed(tagged('a'));
    expect(seen(await discard(first.id))).toEqual([409, 'revision_kept']);
    await deployed(tagged('b'));
    expect(seen(await discard(first.id))).toEqual([409, 'revision_kept']);
  });
});

it('is of one inbox alone, which has to be there', async () => {
  const { id } = await pushed(DROP);
  const other = await t.make('POST', `${org.path}/inboxes`, { as: org.owner, body: { name: 'Other', slug: 'other' } });
  const calls: [string, string][] = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/deploy'],
    ['POST', '/rollback'],
    ['POST', '/simulate'],
  ];
  for (const at of [
    `${org.path}/inboxes/${other.id as string}/revisions/${id}`,
    `${path}/${uuidv7()}`,
    `${org.path}/inboxes/nothing/revisions/${id}`,
  ])
    for (const [method, below] of calls)
      expect([at, below, (await t.call(method, at + below, { as: org.owner, body: method === 'POST' ? {} : undefined })).status]).toEqual([
        at,
        below,
        404,
      ]);
  await t.make('DELETE', `${org.path}/inboxes/${inbox}`, { as: org.owner });
  expect((await push(DROP)).status).toBe(404);
  expect((await t.call('GET', path, { as: org.owner })).status).toBe(404);
});

describe('compiled rule sets', () => {
  const of = (id: string | null, orgId = org.id) => t.get(RuleSets).of(orgId, id);

  it('are made once of each revision that messages run under', async () => {
    const first = await deployed(tagged('a'));
    const rules = await of(first.id);
    expect(rules.ruleSet.default.tags).toEqual(['a']);
    await deployed(DROP);
    expect(await of(first.id)).toBe(rules);
    expect((await of(null)).ruleSet).toMatchObject({ default: { action: 'accept' }, stages: [] });
    expect((await of(null)).ruleSet.gates.auto_submitted).toBe('drop');
  });

  it('are none of drafts, which change, and of no other organization', async () => {
    const draft = await pushed(tagged('a'));
    await expect(of(draft.id)).rejects.toMatchObject({ code: 'not_found' });
    await act('deploy', draft.id);
    expect((await of(draft.id)).ruleSet.default.tags).toEqual(['a']);
    await expect(of(draft.id, uuidv7())).rejects.toMatchObject({ code: 'not_found' });
  });
});
