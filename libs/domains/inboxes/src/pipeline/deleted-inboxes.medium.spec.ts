import { ChatStarts } from '@aps/chats';
import type { TestOrg } from '@aps/chats/testing';
import { sql } from '@aps/platform/testing';
import { inboxesService, type TestInbox } from '../testing';

const t = inboxesService();
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
});
afterEach(() => jest.restoreAllMocks());

/** Has the inbox deleted while a chat is being begun for one of its messages. */
function deletedMeanwhile(): void {
  const starts = t.get(ChatStarts);
  const start = starts.start.bind(starts);
  jest.spyOn(starts, 'start').mockImplementation(async (...args) => {
    expect((await t.call('DELETE', inbox.path, { as: org.owner })).status).toBe(204);
    return start(...args);
  });
}
const LABELS = { instruction: 'What is it?', labels: [{ label: 'order', action: 'accept' }] };

describe('an inbox that is deleted while one of its messages is handed on', () => {
  it.each<[string, object | null, string | null]>([
    ['without rules', null, null],
    ['that a model has looked at', { id: 'triage', kind: 'classifier', ...LABELS }, null],
    [
      'that a human lets through',
      { id: 'no', kind: 'match', when: { field: 'subject', op: 'exists' }, then: { action: 'quarantine' } },
      'release',
    ],
  ])('begins nothing by one %s', async (_, stage, action) => {
    await t.rules(inbox, { stages: stage ? [stage] : [] });
    if (!action) deletedMeanwhile();
    const id = await t.mail(inbox);
    if (action) {
      await t.evaluated(id);
      deletedMeanwhile();
      await t.make('POST', `${inbox.path}/messages/${id}/${action}`, { as: org.owner, body: {} });
    }
    const { trace, ...message } = await t.evaluated(id);
    expect(message).toMatchObject({ state: 'dropped', verdict: 'dropped', decided_by: 'inbox_status', dispatched: null });
    expect(trace.at(-1)).toMatchObject({ stage_id: 'inbox_status', outcome: 'dropped', detail: { reason: 'inbox_deleted' } });
    expect(await t.db.query(sql('SELECT id FROM chats WHERE org_id = $1'), [org.id])).toEqual([]);
    const asked = await t.db.query(sql(`SELECT id FROM inference_receipts WHERE org_id = $1 AND feature = 'intake_classifier'`), [org.id]);
    expect(asked).toHaveLength(trace.filter(({ kind }) => kind === 'classifier').length);
  });
});
