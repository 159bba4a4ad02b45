import type { Answer, Bearer } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';

/** An agent, made through the API by the owner of an organization. @returns what the API answers */
export function anAgent(
  service: TestService,
  { path, owner }: { path: string; owner: Bearer },
  fields: Record<string, unknown> = {},
): Promise<Answer['body']> {
  return service.make('POST', `${path}/agents`, { as: owner, body: { name: 'Agent', ...fields } });
}
