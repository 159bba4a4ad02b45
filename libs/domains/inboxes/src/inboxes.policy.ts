import { isPrefixedId, isUuid, type Problem, refuseValue, requireValid } from '@aps/contracts';
import type { HandlerKind, Inbox, InboxSettings } from '@aps/entities';
import { targetId } from './rules/rule-set.schema';

export interface Target {
  kind: HandlerKind;
  id: string;
}

/** What may be said of a target: either part may be absent, and null clears both. */
export interface TargetInput {
  target_kind?: HandlerKind | null;
  target_id?: string | null;
}

const MAX_SETTINGS = 16 * 1024;

/** Whether an id has the form of those of a kind of handler; of any, where the kind is not known. */
export const fitsKind = (kind: HandlerKind | null | undefined, id: string): boolean =>
  (kind !== 'process' && isUuid(id)) || (kind !== 'agent' && isPrefixedId('prc', id));

/** @throws DomainError `validation_error` for a filter that no inbox can have */
export function requireFitting({ target_kind: kind, target_id: id }: { target_kind?: HandlerKind; target_id?: string }): void {
  if (id !== undefined && !fitsKind(kind, id)) throw refuseValue(['query', 'target_id'], misfit(kind));
}

const FORMS = { agent: 'The id of an agent is a UUID', process: 'The id of a process begins with prc_' };
const misfit = (kind: HandlerKind | undefined) => (kind ? FORMS[kind] : 'Input should be a UUID, or begin with prc_');

/**
 * The target that an inbox is to have. What is not said stays.
 *
 * @returns null for none
 * @throws DomainError `validation_error` where one part is left without the other, or the id is none of its kind
 */
export function targetOf(input: TargetInput, before: Pick<Inbox, 'target_kind' | 'target_id'> | null): Target | null {
  if (input.target_kind === null || input.target_id === null) {
    const other = input.target_kind === null ? 'target_id' : 'target_kind';
    if (input[other] === null || input[other] === undefined) return null;
    throw refuseValue(['body', other], 'Kind and id of a target are cleared together');
  }
  const kind = input.target_kind ?? before?.target_kind ?? null;
  const id = input.target_id ?? before?.target_id ?? null;
  if (kind === null && id === null) return null;
  if (kind === null || id === null)
    throw refuseValue(['body', kind === null ? 'target_kind' : 'target_id'], 'A target has a kind and an id');
  if (!fitsKind(kind, id)) throw refuseValue(['body', 'target_id'], misfit(kind));
  return { kind, id: targetId(id) };
}

/** Settings after a change, key by key; null removes one. @throws DomainError `validation_error` with every problem */
export function changedSettings(before: InboxSettings, change: Record<string, unknown>): InboxSettings {
  const settings = Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)) as InboxSettings;
  const { reply, reply_delay_s: delay, from_name: name } = settings as Record<string, unknown>;
  const problems: Problem[] = [];
  const wrong = (path: string[], msg: string) => void problems.push({ loc: ['body', 'settings', ...path], msg, type: 'value_error' });
  if (reply !== undefined && !['off', 'auto', 'tool'].includes(reply as string)) wrong(['reply'], 'Input should be off, auto or tool');
  if (delay !== undefined && !(Number.isInteger(delay) && (delay as number) >= 0 && (delay as number) <= 3_600))
    wrong(['reply_delay_s'], 'Input should be an integer from 0 to 3600');
  // It becomes part of a header.
  if (name !== undefined && (typeof name !== 'string' || name.length > 120 || /[\u0000-\u001f\u007f]/.test(name)))
    wrong(['from_name'], 'Input should be a text of at most 120 characters, on one line');
  if (Buffer.byteLength(JSON.stringify(settings)) > MAX_SETTINGS) wrong([], `Settings should be at most ${MAX_SETTINGS} bytes of JSON`);
  requireValid(problems);
  return settings;
}
