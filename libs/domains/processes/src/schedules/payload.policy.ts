import type { Problem } from '@aps/contracts';
import type { Schedule } from '@aps/entities';
import { validate } from '@aps/platform/json-schema';
import { type Definition } from '../definition';

/** Characters, as many as a message of a user may have. */
const MAX_CONTENT = 100_000;

/** Why a target would not take a payload. @param schema of the input of a process, null where nothing is known of it */
export function payloadProblems(
  kind: Schedule['target_kind'],
  payload: Schedule['payload'],
  schema: Definition['input_schema'],
): Problem[] {
  const wrong = (path: string[], msg: string): Problem => ({ loc: ['body', 'payload', ...path], msg, type: 'value_error' });
  if (kind === 'process')
    return schema ? validate(schema, payload).map(({ path, message }) => wrong(path.split('.').filter(Boolean), message)) : [];
  const { content, ...others } = payload;
  const problems = Object.keys(others).map((key) => wrong([key], 'An agent is given `content` alone'));
  const said = typeof content === 'string' && content.length > 0 && content.length <= MAX_CONTENT;
  return said ? problems : [wrong(['content'], `Input should be a text of 1 to ${MAX_CONTENT} characters`), ...problems];
}
