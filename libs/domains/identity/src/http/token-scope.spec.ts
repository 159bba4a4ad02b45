import 'reflect-metadata';
import { TOKEN_AREAS } from '@aps/contracts';
import { CreateTokenRequest } from '@aps/dtos';
import { instantiate } from '@aps/platform/http';
import { validateSync } from 'class-validator';

const accepts = (scope: unknown) => validateSync(instantiate(CreateTokenRequest, { name: 'x', scope })).length === 0;

describe('scope of an API token', () => {
  it.each(['*', 'agents:read', 'agents:write chats:read', TOKEN_AREAS.map((a) => `${a}:read ${a}:write`).join(' '), undefined])(
    'may be %p',
    (scope) => {
      expect(accepts(scope)).toBe(true);
    },
  );

  it.each([
    '',
    ' ',
    '* agents:read',
    'agents',
    'agents:delete',
    'Agents:read',
    'agents:read,chats:read',
    'agents:read  chats:read',
    ' agents:read',
    'agents:read\n',
    'everything:read',
    '**',
    null,
    1,
    ['*'],
    {},
  ])('may not be %p', (scope) => {
    expect(accepts(scope)).toBe(false);
  });
});
