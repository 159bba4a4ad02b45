import { BillingModule } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { OrgAiSettings, PromptRevision } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { addModel, whileDeleting } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import type { Answer } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { PromptsHttpModule } from '.';

const t = testService([...BASE_MODULES, BillingModule, InferenceModule, PromptsHttpModule]);
let org: TestTeam;
let path: string;
beforeAll(() => addModel(t, 'test-model'));
beforeEach(async () => {
  await entitle(t, { direct_model_choice: true });
  org = await aTeam(t);
  path = `${org.path}/prompt-templates`;
});

const TOTAL = { name: 'total', type: 'number' };
/** What PUT asks for. */
const KEPT = { description: null, file_input_mode: null, model: null, reasoning_effort: null };

const make = (body: object) => t.make('POST', path, { as: org.owner, body });
const put = (ref: string, body: object) => t.call('PUT', `${path}/${ref}`, { as: org.owner, body: { ...KEPT, ...body } });
const get = (below: string) => t.make('GET', path + below, { as: org.owner });
const problems = (body: Answer['body']) =>
  (body.detail as { loc: unknown[]; type: string }[]).map(({ loc, type }) => [loc.join('.'), type]);

describe('prompt templates', () => {
  it('do not begin to name a model that is being deleted', async () => {
    await addModel(t, 'going');
    const { status, body } = await whileDeleting(t, 'going', () =>
      t.call('POST', path, { as: org.owner, body: { name: 'Late', text: 'x', model: 'going' } }),
    );
    expect([status, body.code]).toEqual([422, 'model_unknown']);
  });

  it('are made with a slug and version 1, and read by either', async () => {
    const fields = [{ ...TOTAL, description: 'With tax', required: true, enum_values: ['x'] }];
    const settings = {
      name: 'Zürich invoice',
      description: 'Reads',
      text: 'Read {{it}}.',
      tags: ['a', 'a', 'b'],
      post_processing_instructions: 'Sum up.',
    };
    const made = await make({ ...settings, fields });
    const { id, created_at, updated_at, current_revision } = made;
    expect(made).toEqual({
      ...settings,
      ...{ id, created_at, updated_at, current_revision, slug: 'zurich-invoice', kind: 'structured', tags: ['a', 'b'] },
      ...{ ...KEPT, description: 'Reads', file_input_mode: 'auto', project_id: null, created_by: org.owner.id },
      fields: [{ name: 'total', type: 'number', description: 'With tax', required: true }],
    });
    expect(current_revision).toEqual({ id: expect.any(String), version: 1 });
    expect([await get(`/${id}`), await get('/zurich-invoice')]).toEqual([made, made]);
    const revisions = [
      {
        ...current_revision,
        changed: ['text', 'fields', 'post_processing_instructions'],
        created_by: org.owner.id,
        created_at: expect.any(String),
      },
    ];
    expect(await get('/zurich-invoice/revisions')).toEqual(revisions);
    expect(await t.audit({ target_id: id })).toMatchObject([{ action: 'prompt_template.created', metadata: { slug: 'zurich-invoice' } }]);
  });

  it('need no more than a name, and then are plain', async () => {
    const { status, body } = await t.call('POST', path, { as: org.owner, body: { text: 'x' } });
    expect([status, problems(body)]).toEqual([422, [['body.name', 'missing']]]);
    const made = await make({ name: 'A' });
    expect(made).toMatchObject({ kind: 'plain', text: null, fields: [], tags: [], current_revision: { version: 1 } });
    expect(await get('/a/revisions')).toMatchObject([{ version: 1, changed: [] }]);
  });

  it('are listed newest first, all or of a project', async () => {
    for (const name of ['A', 'B', 'C']) await make({ name });
    expect((await get('?limit=2')).items.map((x: { slug: string }) => x.slug)).toEqual(['c', 'b']);
    expect(await get('?project_id=none')).toMatchObject({ total: 3, next_offset: null });
    expect(await get(`?project_id=${uuidv7()}`)).toMatchObject({ total: 0 });
  });

  it('get namesakes of their slugs, many at once too, and free them when they are deleted', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => make({ name: 'Same' })));
    expect(made.map(({ slug }) => slug as string).sort()).toEqual(['same', 'same-2', 'same-3', 'same-4', 'same-5', 'same-6']);
    expect((await t.call('DELETE', `${path}/same`, { as: org.owner })).status).toBe(204);
    for (const below of ['', '/revisions']) expect((await t.call('GET', `${path}/same${below}`, { as: org.owner })).status).toBe(404);
    expect((await t.call('DELETE', `${path}/same`, { as: org.owner })).status).toBe(404);
    expect((await put('same', {})).status).toBe(404);
    expect(await make({ name: 'Same' })).toMatchObject({ slug: 'same' });
  });
});

describe('a change of a prompt template', () => {
  it('makes a revision of what differs, and of nothing else', async () => {
    const { id } = await make({ name: 'A', text: 'one', fields: [TOTAL], post_processing_instructions: 'p' });
    const versions: unknown[] = [];
    const nested = { name: 'lines', type: 'array', items: { name: 'line', type: 'object', fields: [TOTAL] } };
    for (const body of [
      { text: 'one', fields: [TOTAL], post_processing_instructions: 'p' },
      { fields: [{ ...TOTAL, description: null, required: false, enum_values: [], items: null, fields: [] }] },
      { name: 'B', tags: ['x'], description: 'd', file_input_mode: 'text' },
      { text: 'two' },
      { fields: [nested], post_processing_instructions: 'q' },
      { fields: null, text: '' },
      { text: null, fields: [] },
    ]) {
      const { status, body: answer } = await put(id, body);
      versions.push([status, answer.current_revision.version, answer.kind]);
    }
    expect(versions).toEqual([
      ...[1, 1, 1, 2, 3].map((version) => [200, version, 'structured']),
      ...[4, 4].map((version) => [200, version, 'plain']),
    ]);
    expect(await get(`/${id}`)).toMatchObject({
      name: 'B',
      slug: 'a',
      tags: ['x'],
      description: null,
      file_input_mode: 'auto',
      text: null,
    });
    const facts = (await t.audit({ target_id: id, action: 'prompt_template.updated' })).map(
      ({ metadata }) => metadata as { fields: string[] },
    );
    expect(facts.map(({ fields }) => fields.join())).toEqual([
      'name,description,tags,file_input_mode',
      'text,description,file_input_mode',
      'fields,post_processing_instructions',
      'text,fields',
    ]);
    expect((await get('/a/revisions')).map((r: { version: number; changed: string[] }) => [r.version, r.changed.join()])).toEqual([
      [4, 'text,fields'],
      [3, 'fields,post_processing_instructions'],
      [2, 'text'],
      [1, 'text,fields,post_processing_instructions'],
    ]);
    const [first] = await t.db.manager.find(PromptRevision, { where: { template_id: id }, order: { version: 'ASC' } });
    expect(first).toMatchObject({ text: 'one', post_processing_instructions: 'p' });
  });

  it('numbers revisions without gaps when many change it at once', async () => {
    await make({ name: 'A' });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => put('a', { text: `text ${i}` })));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await get('/a/revisions')).map((r: { version: number }) => r.version)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('must say what becomes of four fields', async () => {
    await make({ name: 'A' });
    const { status, body } = await t.call('PUT', `${path}/a`, { as: org.owner, body: {} });
    const missing = Object.keys(KEPT).map((key) => [`body.${key}`, 'missing']);
    expect([status, problems(body).sort()]).toEqual([422, missing]);
  });
});

describe('models of prompt templates', () => {
  const code = (answer: { status: number; body: { code?: string } }) => [answer.status, answer.body.code];
  const post = async (body: object) => code(await t.call('POST', path, { as: org.owner, body: { name: 'A', ...body } }));

  it('need the plan only for what is set anew', async () => {
    await make({ name: 'A', model: 'test-model', reasoning_effort: 'low' });
    await entitle(t, { direct_model_choice: false });
    const refused = [403, 'entitlement_required'];
    expect([await post({ model: 'test-model' }), await post({ reasoning_effort: 'low' })]).toEqual([refused, refused]);
    expect(await post({ model: null, reasoning_effort: null })).toEqual([201, undefined]);
    expect((await put('a', { model: 'test-model', reasoning_effort: 'low' })).status).toBe(200);
    expect(code(await put('a', { model: 'test-model', reasoning_effort: 'high' }))).toEqual(refused);
    expect((await put('a', {})).status).toBe(200);
    expect(code(await put('a', { model: 'test-model' }))).toEqual(refused);
  });

  it('must be known and allowed', async () => {
    expect(await post({ model: 'no-such' })).toEqual([422, 'model_unknown']);
    await addModel(t, 'other-model');
    await t.db.manager.insert(OrgAiSettings, { org_id: org.id, prompt_model_allowlist: ['other-model'] });
    expect(await post({ model: 'test-model' })).toEqual([422, 'model_not_allowed']);
    expect(await post({ model: 'other-model' })).toEqual([201, undefined]);
  });
});

describe('fields of prompt templates', () => {
  const nested = (depth: number, inner: object = TOTAL): object =>
    depth === 1 ? inner : { name: 'o', type: 'object', fields: [nested(depth - 1, inner)] };

  const nestedFields = (n: number) => ({
    type: 'object',
    fields: Array.from({ length: n }, (_, i) => ({ name: `f${i}`, type: 'string' })),
  });

  it.each<[string, object[], [string, string][]]>([
    ['a name that is none', [{ name: '1x', type: 'string' }], [['body.fields.0.name', 'value_error']]],
    ['an unknown type', [{ name: 'a', type: 'money' }], [['body.fields.0.type', 'enum']]],
    ['two of one name', [TOTAL, { ...TOTAL, type: 'string' }], [['body.fields.1.name', 'value_error']]],
    ['an enum of nothing', [{ name: 'a', type: 'enum' }], [['body.fields.0.enum_values', 'missing']]],
    ['an enum of two that are one', [{ name: 'a', type: 'enum', enum_values: ['x', 'x'] }], [['body.fields.0.enum_values', 'value_error']]],
    ['an array of nothing', [TOTAL, { name: 'a', type: 'array' }], [['body.fields.1.items', 'missing']]],
    ['an object of nothing', [{ name: 'a', type: 'object', fields: [] }], [['body.fields.0.fields', 'missing']]],
    ['a sixth level', [nested(6)], [['body.fields.0.fields.0.fields.0.fields.0.fields.0.fields.0', 'value_error']]],
    [
      'a problem deep within',
      [{ name: 'a', type: 'array', items: nested(3, { name: 'e', type: 'enum', enum_values: [] }) }],
      [['body.fields.0.items.fields.0.fields.0.enum_values', 'missing']],
    ],
    [
      'more than five hundred in all',
      Array.from({ length: 6 }, (_, i) => ({ ...nestedFields(90), name: `o${i}` })),
      [['body.fields', 'too_long']],
    ],
    ['more than a hundred', Array.from({ length: 101 }, (_, i) => ({ name: `f${i}`, type: 'string' })), [['body.fields', 'too_long']]],
  ])('refuse %s', async (_, fields, expected) => {
    const { status, body } = await t.call('POST', path, { as: org.owner, body: { name: 'A', fields } });
    expect([status, problems(body)]).toEqual([422, expected]);
  });

  it('may be five levels deep', async () => {
    expect(await make({ name: 'A', fields: [nested(5)] })).toMatchObject({ kind: 'structured' });
  });
});
