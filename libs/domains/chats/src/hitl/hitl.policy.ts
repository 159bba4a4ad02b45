import { type Problem, requireValid } from '@aps/contracts';
import type { HitlRequest } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { NewEvent } from '../state/chat.types';
import type { WaitOutcome } from '../turns/turn-waits';
import { formProblems } from './form-schema';

/** Largest values of a form that are taken, characters of JSON: the model reads them whole. */
export const MAX_VALUES_CHARS = 32_000;
/** Largest arguments that a human may write, characters of JSON. */
export const MAX_ARGUMENTS_CHARS = 200_000;

/** What a human answers; which of it fits is up to the question. */
export interface AnswerInput {
  decision?: 'approve' | 'reject' | 'edit' | null;
  answer?: string | null;
  option_id?: string | null;
  values?: Record<string, unknown> | null;
  edited_arguments?: Record<string, unknown> | null;
  note?: string | null;
}

type Field = Exclude<keyof AnswerInput, 'note'>;

const FIELDS_OF: Record<HitlRequest['kind'], readonly Field[]> = {
  question: ['answer', 'option_id'],
  approval: ['decision', 'edited_arguments'],
  form: ['values'],
};

/**
 * Of a chat: its assignee, or an admin for them; without an assignee, or with one who has left or is deactivated, everybody who sees the request. Of a process run:
 * who is named by role or as a user, or an admin; everybody where nobody is.
 */
export function mayAnswer(
  request: Pick<HitlRequest, 'assignee_user_id' | 'assignees'> & { assignee_is_member: boolean },
  caller: Pick<OrgScope, 'actor' | 'isAdmin' | 'role'>,
): boolean {
  if (caller.isAdmin) return true;
  if (request.assignees.length)
    return request.assignees.some((who) => who === `role:${caller.role}` || who === `user:${caller.actor.userId}`);
  return request.assignee_user_id === null || !request.assignee_is_member || request.assignee_user_id === caller.actor.userId;
}

/**
 * The answer as it is stored.
 *
 * @throws DomainError 422 with every problem when it does not fit the question
 */
export function checkAnswer(
  request: Pick<HitlRequest, 'kind' | 'options' | 'schema' | 'tool_call'>,
  input: AnswerInput,
): Record<string, unknown> {
  const { kind } = request;
  const given = (['decision', 'answer', 'option_id', 'values', 'edited_arguments'] as const).filter(
    (field) => input[field] !== undefined && input[field] !== null,
  );
  const problems: Problem[] = given
    .filter((field) => !FIELDS_OF[kind].includes(field) && !(field === 'values' && kind === 'question' && request.schema))
    .map((field) => ({
      loc: ['body', field],
      msg: `Not part of an answer to ${kind === 'approval' ? 'an approval' : `a ${kind}`}`,
      type: 'value_error',
    }));
  problems.push(...PROBLEMS[kind](request, input));
  requireValid(problems);
  const answer = Object.fromEntries(given.map((field) => [field, input[field]]));
  return { ...answer, ...(input.note ? { note: input.note } : {}) };
}

const missing = (field: Field): Problem => ({ loc: ['body', field], msg: 'Field required', type: 'missing' });

const PROBLEMS: Record<
  HitlRequest['kind'],
  (request: Pick<HitlRequest, 'options' | 'schema' | 'tool_call'>, input: AnswerInput) => Problem[]
> = {
  question({ options, schema }, { answer, option_id: chosen, values }) {
    if (schema && values && tooLong(values, MAX_VALUES_CHARS, 'values').length) return tooLong(values, MAX_VALUES_CHARS, 'values');
    if (typeof chosen === 'string' && !options?.some((option) => option.id === chosen))
      return [{ loc: ['body', 'option_id'], msg: 'The request has no such option', type: 'enum' }];
    if (typeof chosen === 'string' || typeof answer === 'string') return [];
    return [missing(options ? 'option_id' : 'answer')];
  },
  approval({ tool_call: call }, { decision, edited_arguments: edited }) {
    if (!decision) return [missing('decision')];
    if (decision !== 'edit')
      return edited ? [{ loc: ['body', 'edited_arguments'], msg: 'Only with the decision edit', type: 'value_error' }] : [];
    if (!call) return [{ loc: ['body', 'decision'], msg: 'The request has no call that could be edited', type: 'value_error' }];
    return edited ? tooLong(edited, MAX_ARGUMENTS_CHARS, 'edited_arguments') : [missing('edited_arguments')];
  },
  form({ schema }, { values }) {
    if (!values) return [missing('values')];
    const long = tooLong(values, MAX_VALUES_CHARS, 'values');
    return long.length ? long : formProblems(schema ?? {}, values, ['body', 'values']);
  },
};

function tooLong(value: object, limit: number, field: Field): Problem[] {
  return JSON.stringify(value).length > limit
    ? [{ loc: ['body', field], msg: `Should have at most ${limit} characters as JSON`, type: 'too_long' }]
    : [];
}

/** What of changed arguments the model is told; its transcript is to hold the result. */
const MAX_REMARK_CHARS = 2_000;
const cut = (text: string): string => (text.length > MAX_REMARK_CHARS ? `${text.slice(0, MAX_REMARK_CHARS).toWellFormed()}…` : text);

/** What the asking call gets. */
export function outcomeOf(request: HitlRequest): WaitOutcome {
  const { status, kind, options, tool_call: call, notice } = request;
  const answer = (request.answer ?? {}) as AnswerInput;
  const result = (content: Record<string, unknown>): WaitOutcome => ({
    kind: 'result',
    content: JSON.stringify({ ...content, ...(notice && { notice }) }),
  });
  if (status !== 'answered')
    return result({
      status: status === 'expired' ? 'expired' : 'cancelled',
      message: status === 'expired' ? 'Nobody answered in time.' : 'The request was withdrawn; nobody answered it.',
    });
  if (kind === 'approval' && call && answer.decision !== 'reject') {
    const edited = answer.decision === 'edit' ? (answer.edited_arguments ?? {}) : undefined;
    const remarks = [
      ...(edited ? [`A human approved this with other arguments: ${cut(JSON.stringify(edited))}`] : []),
      ...(answer.note ? [`A human approved this and says: ${answer.note}`] : []),
      ...(notice ? [notice] : []),
    ];
    return {
      kind: 'run',
      toolSlug: call.tool_slug,
      arguments: edited ?? call.arguments,
      ...(remarks.length && { remark: remarks.join('\n') }),
    };
  }
  const option = options?.find((o) => o.id === answer.option_id);
  return result({
    status: 'answered',
    ...(answer.decision && { decision: answer.decision }),
    ...(call && { message: `${call.tool_slug} was not run: a human refused it.` }),
    ...(typeof answer.answer === 'string' && { answer: answer.answer }),
    ...(option && { option }),
    ...(answer.values && { values: answer.values }),
    ...(answer.note && { note: answer.note }),
  });
}

/** What the model is told of a request that is over when a message ends the turn's wait for others. No call runs any more then. */
export function interruptedResult(request: HitlRequest): string {
  const outcome = outcomeOf(request);
  if (outcome.kind === 'result') return outcome.content;
  const message = `${outcome.toolSlug} was approved, but not run: the user wrote before the other requests were answered. Propose it again if it is still wanted.`;
  return JSON.stringify({ status: 'interrupted_by_message', decision: request.answer?.decision, message });
}

/** What readers of the chat are told of a question. */
export function requestedEvent(
  request: Pick<
    HitlRequest,
    'id' | 'kind' | 'prompt' | 'options' | 'schema' | 'tool_call' | 'assignee_user_id' | 'expires_at' | 'turn_id' | 'tool_call_id'
  >,
): NewEvent {
  const { id, kind, prompt, options, schema, tool_call, assignee_user_id, expires_at, turn_id, tool_call_id } = request;
  return {
    type: 'hitl_requested',
    data: {
      request_id: id,
      kind,
      prompt,
      options: options ?? [],
      schema,
      tool_call,
      assignee_user_id,
      expires_at: expires_at.toISOString(),
      turn_id,
      tool_call_id,
    },
  };
}

/** What readers of the chat are told of its end. @param reason why nobody answered it */
export function resolvedEvent(
  request: Pick<HitlRequest, 'id' | 'kind' | 'status' | 'answer' | 'answered_by' | 'turn_id' | 'tool_call_id'>,
  reason: string | null = null,
): NewEvent {
  const { id, kind, status, answer, answered_by, turn_id, tool_call_id } = request;
  return { type: 'hitl_resolved', data: { request_id: id, kind, status, reason, answer, answered_by, turn_id, tool_call_id } };
}
