import { DomainError } from '@aps/contracts';
import type { HitlRequest } from '@aps/entities';
import { checkAnswer, mayAnswer, outcomeOf, type AnswerInput } from './hitl.policy';

const CALL = { id: 'c1', tool_slug: 'con_mail.send', arguments: { to: 'a@b.c' }, access_level: 'write' };
const request = (over: Partial<HitlRequest>): HitlRequest =>
  ({
    kind: 'question',
    options: null,
    schema: null,
    tool_call: null,
    status: 'answered',
    answer: null,
    notice: null,
    ...over,
  }) as HitlRequest;
const QUESTION = request({ kind: 'question' });
const CHOICE = request({ kind: 'question', options: [{ id: 'a', label: 'A' }] });
const PLAIN = request({ kind: 'approval' });
const APPROVAL = request({ kind: 'approval', tool_call: CALL });
const FORM = request({ kind: 'form', schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } });

describe('an answer', () => {
  it.each<[string, HitlRequest, AnswerInput, Record<string, unknown>]>([
    ['words', QUESTION, { answer: 'yes', note: null }, { answer: 'yes' }],
    ['an option, with a note', CHOICE, { option_id: 'a', note: 'gladly' }, { option_id: 'a', note: 'gladly' }],
    ['words in the place of an option', CHOICE, { answer: 'neither' }, { answer: 'neither' }],
    ['yes', PLAIN, { decision: 'approve', values: null }, { decision: 'approve' }],
    [
      'other arguments',
      APPROVAL,
      { decision: 'edit', edited_arguments: { to: 'c@d.e' } },
      { decision: 'edit', edited_arguments: { to: 'c@d.e' } },
    ],
    ['values', FORM, { values: { n: 1 } }, { values: { n: 1 } }],
  ])('may be %s', (_, asked, input, stored) => expect(checkAnswer(asked, input)).toEqual(stored));

  it.each<[string, HitlRequest, AnswerInput, string[]]>([
    ['nothing', QUESTION, {}, ['answer missing']],
    ['nothing, of a choice', CHOICE, { note: 'hm' }, ['option_id missing']],
    ['an option of another question', CHOICE, { option_id: 'b' }, ['option_id enum']],
    ['an option where there are none', QUESTION, { option_id: 'a' }, ['option_id enum']],
    [
      'parts of all kinds',
      FORM,
      { decision: 'approve', answer: 'x', option_id: 'a', edited_arguments: {} },
      ['decision value_error', 'answer value_error', 'option_id value_error', 'edited_arguments value_error', 'values missing'],
    ],
    ['no decision', APPROVAL, { note: 'hm' }, ['decision missing']],
    ['arguments that are not edited', APPROVAL, { decision: 'approve', edited_arguments: {} }, ['edited_arguments value_error']],
    ['an edit without arguments', APPROVAL, { decision: 'edit' }, ['edited_arguments missing']],
    ['an edit where there is no call', PLAIN, { decision: 'edit', edited_arguments: {} }, ['decision value_error']],
    ['values against the schema', FORM, { values: { n: 'x' } }, ['values.n integer_type']],
    ['values that are too large', FORM, { values: { n: 1, x: 'x'.repeat(32_000) } }, ['values too_long']],
    [
      'arguments that are too large',
      APPROVAL,
      { decision: 'edit', edited_arguments: { x: 'x'.repeat(200_000) } },
      ['edited_arguments too_long'],
    ],
  ])('may not be %s', (_, asked, input, wanted) => {
    let problems: string[] = [];
    try {
      checkAnswer(asked, input);
    } catch (error) {
      expect((error as DomainError).status).toBe(422);
      problems = (error as DomainError).problems!.map((p) => `${p.loc.slice(1).join('.')} ${p.type}`);
    }
    expect(problems).toEqual(wanted);
  });

  it('is for the assignee and admins, and for all where the assignee has left', () => {
    const to = (assignee_user_id: string | null, assignee_is_member = true) => ({ assignee_user_id, assignee_is_member, assignees: [] });
    expect([
      mayAnswer(to(null, false), as('a')),
      mayAnswer(to('a'), as('a')),
      mayAnswer(to('a'), as('b')),
      mayAnswer(to('a'), as('b', true)),
      mayAnswer(to('a', false), as('b')),
    ]).toEqual([true, true, false, true, true]);
  });

  it('is, of a process run, for who is named by role or as a user, and for admins', () => {
    const to = (...assignees: string[]) => ({ assignee_user_id: null, assignee_is_member: false, assignees });
    expect([
      mayAnswer(to('role:MEMBER'), as('a')),
      mayAnswer(to('role:ADMIN'), as('a')),
      mayAnswer(to('role:OWNER', 'user:a'), as('a')),
      mayAnswer(to('user:b', 'someone@else.example'), as('a')),
      mayAnswer(to('user:b'), as('a', true)),
    ]).toEqual([true, false, true, false, true]);
  });
});

const as = (userId: string, isAdmin = false) =>
  ({ actor: { userId }, isAdmin, role: isAdmin ? 'ADMIN' : 'MEMBER' }) as Parameters<typeof mayAnswer>[1];

describe('what the asking call gets', () => {
  const result = (asked: HitlRequest) => {
    const outcome = outcomeOf(asked);
    return outcome.kind === 'result' ? (JSON.parse(outcome.content) as unknown) : outcome;
  };

  it.each<[string, HitlRequest, Record<string, unknown>]>([
    ['words', { ...QUESTION, answer: { answer: 'yes', note: 'now' } }, { status: 'answered', answer: 'yes', note: 'now' }],
    ['an option', { ...CHOICE, answer: { option_id: 'a' } }, { status: 'answered', option: { id: 'a', label: 'A' } }],
    [
      'values, and what was not done as asked',
      { ...FORM, answer: { values: { n: 1 } }, notice: 'ignored' },
      { status: 'answered', values: { n: 1 }, notice: 'ignored' },
    ],
    ['a yes without a call', { ...PLAIN, answer: { decision: 'approve' } }, { status: 'answered', decision: 'approve' }],
    [
      'a no',
      { ...APPROVAL, answer: { decision: 'reject', note: 'too dear' } },
      { status: 'answered', decision: 'reject', message: 'con_mail.send was not run: a human refused it.', note: 'too dear' },
    ],
    [
      'the stored call',
      { ...APPROVAL, answer: { decision: 'approve' } },
      { kind: 'run', toolSlug: 'con_mail.send', arguments: { to: 'a@b.c' } },
    ],
    [
      'the edited call',
      { ...APPROVAL, answer: { decision: 'edit', edited_arguments: { to: 'x' }, note: 'typo' } },
      {
        kind: 'run',
        toolSlug: 'con_mail.send',
        arguments: { to: 'x' },
        remark: 'A human approved this with other arguments: {"to":"x"}\nA human approved this and says: typo',
      },
    ],
    ['that nobody answered', { ...APPROVAL, status: 'expired' }, { status: 'expired', message: 'Nobody answered in time.' }],
    [
      'that it was withdrawn',
      { ...QUESTION, status: 'cancelled' },
      { status: 'cancelled', message: 'The request was withdrawn; nobody answered it.' },
    ],
    [
      'nothing else than that, while it is open',
      { ...APPROVAL, status: 'pending' },
      { status: 'cancelled', message: 'The request was withdrawn; nobody answered it.' },
    ],
  ])('is %s', (_, asked, wanted) => expect(result(asked)).toEqual(wanted));
});
