import { transcriptRow, type TranscriptRow } from '../state/chat.types';
import { storableCalls, toModelMessages } from './transcript';

const row = (role: TranscriptRow['role'], content: string, more: Partial<TranscriptRow> = {}) => transcriptRow({ role, content, ...more });

describe('calls as they are stored', () => {
  it('gives every call of an answer an id of its own', () => {
    const stored = storableCalls(
      [
        { id: 'a', name: 'x', arguments: '{}' },
        { id: 'a', name: 'y', arguments: '{}' },
        { id: '', name: 'z', arguments: '{}' },
      ],
      'm',
      [],
    );
    expect(stored.map((c) => c.id)).toEqual(['a', 'call_m_1', 'call_m_2']);
    expect(
      storableCalls([{ id: 'a', name: 'x', arguments: '{}' }], 'n', [row('assistant', '', { tool_calls: stored })]).map((c) => c.id),
    ).toEqual(['call_n_0']);
    expect(storableCalls([{ id: 'a', name: 'x', arguments: '{}' }], 'n', [row('summary', 'They had called a')]).map((c) => c.id)).toEqual([
      'call_n_0',
    ]);
  });

  it('keeps what PostgreSQL cannot hold out of ids, names and arguments', () => {
    const [stored] = storableCalls([{ id: 'a\0b', name: 'n\0\ud800', arguments: '{"x":"\\u0000y\ud800"}' }], 'm', []);
    expect(stored).toEqual({ id: 'ab', name: 'n\ufffd', arguments: '{"x":"y\ufffd"}' });
  });
});

describe('notes of the system', () => {
  const texts = (rows: TranscriptRow[]) =>
    toModelMessages(rows).map((m) => (m.role === 'user' ? `${m.role}: ${m.content as string}` : m.role));
  const note = (n: number) => expect.stringMatching(new RegExp(`^user: \\[Note of the system.*\\]\n\n\\{"n":${n}\\}$`)) as string;

  it('come before the words of the user that they were stored after, in their order, and close no open call', () => {
    const call = row('assistant', 'calls', { tool_calls: [{ id: '1', name: 'x', arguments: '{}' }] });
    expect(
      texts([
        row('user', 'first'),
        row('system', '{"n":1}'),
        row('system', '{"n":2}'),
        row('assistant', 'hi'),
        row('system', '{"n":3}'),
        row('user', 'second'),
      ]),
    ).toEqual([...[note(1), note(2), 'user: first', 'assistant', note(3), 'user: second']]);
    expect(texts([row('user', 'first'), call, row('tool', 'r', { tool_call_id: '1' }), row('system', '{"n":4}')])).toEqual([
      'user: first',
      'assistant',
      'tool',
      note(4),
    ]);
  });
});

describe('messages of users that say nothing', () => {
  it.each(['', ' ', '\n\t'])('are told as such (%j), so that a request never ends with the words of the model', (blank) => {
    const empty = { role: 'user', content: expect.stringMatching(/^\[The user sent an empty message/) as string };
    expect(toModelMessages([row('user', blank)])).toEqual([empty]);
    expect(toModelMessages([row('user', 'Hi'), row('assistant', 'Hello'), row('user', blank)]).at(-1)).toEqual(empty);
  });

  it('leave the word to the files that they bring', () => {
    const attachments: NonNullable<TranscriptRow['attachments']> = [];
    const read = new Map([[attachments, [{ text: '[File a.txt]' }]]]);
    expect(toModelMessages([row('user', '', { attachments })], read)).toEqual([{ role: 'user', content: '[File a.txt]' }]);
  });
});

describe('names of tools in a request', () => {
  it('are names that every provider takes, the same in call and answer', () => {
    const calls = [
      { id: '1', name: 'con_github.create issue', arguments: '{}' },
      { id: '2', name: '', arguments: '{}' },
      { id: '3', name: 'x'.repeat(100), arguments: '{}' },
    ];
    const messages = toModelMessages([
      row('assistant', '', { tool_calls: calls }),
      row('tool', 'no', { tool_call_id: '1', tool_name: 'con_github.create issue' }),
    ]);
    const names = (messages[0] as { toolCalls: { name: string }[] }).toolCalls.map((c) => c.name);
    expect(names).toEqual(['con_github_create_issue', 'unknown', 'x'.repeat(64)]);
    expect(messages.slice(1).map((m) => (m as { toolName: string }).toolName)).toEqual(names);
  });
});
