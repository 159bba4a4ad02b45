import { orgTopic, type Problem, requireValid } from '@aps/contracts';
import { MAX_TOPICS, TOPIC } from '@aps/dtos';
import type { StreamTopic } from '@aps/platform/realtime';

/** Asked for when nothing is. */
const DEFAULT = 'org';

/** The topics of a comma-separated list in one spelling, each once, whether they are any or not. */
export function listTopics(text: unknown): string[] {
  const last: unknown = Array.isArray(text) ? text.at(-1) : text;
  const given = typeof last === 'string' ? last : '';
  const names = given
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  return names.length === 0 ? [DEFAULT] : [...new Set(names)];
}

/** @throws DomainError 422 for what is no topic, or for too many */
export function parseTopics(text: string | undefined, orgId: string): StreamTopic[] {
  const names = listTopics(text);
  const problem = (msg: string, type: string): Problem => ({ loc: ['query', 'topics'], msg, type });
  const problems = [
    ...(names.every((name) => TOPIC.test(name)) ? [] : [problem('Input should be topics, separated by commas', 'value_error')]),
    ...(names.length <= MAX_TOPICS ? [] : [problem(`List should have at most ${MAX_TOPICS} items`, 'too_long')]),
  ];
  requireValid(problems);
  return names.map((name) => ({ name, topic: name === 'org' ? orgTopic(orgId) : name }));
}
