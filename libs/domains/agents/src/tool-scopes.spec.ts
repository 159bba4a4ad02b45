import { parseToolScope } from './tool-scopes';

describe('parseToolScope', () => {
  it.each([
    ['*', { kind: 'all' }],
    ['core', { kind: 'core' }],
    ['system:web', { kind: 'web' }],
    ['system:exec', { kind: 'exec' }],
    ['kb:hand-book', { kind: 'kb', slug: 'hand-book' }],
    ['kb:hand-book:write', { kind: 'kb', slug: 'hand-book', write: true }],
    ['con:crm', { kind: 'con', slug: 'crm' }],
    ['agent:researcher-2', { kind: 'agent', slug: 'researcher-2' }],
    ['process:invoice', { kind: 'process', slug: 'invoice' }],
    ['prompt:invoice', { kind: 'prompt', slug: 'invoice' }],
    ['crm.find_customer', { kind: 'tool', connection: 'crm', name: 'find_customer' }],
    ['crm.files/read.all', { kind: 'tool', connection: 'crm', name: 'files/read.all' }],
  ])('reads %p', (text, scope) => expect(parseToolScope(text)).toEqual(scope));

  it.each([
    ...[
      '',
      'Core',
      'web',
      'system:',
      'system:shell',
      'kb:',
      'kb:*',
      'kb:Hand',
      'kb:hand:read',
      'kb::write',
      'agent:a b',
      'agent:-a',
      'team:x',
      'crm',
      'crm.',
      '.find',
      'crm.find customer',
      'CRM.find',
      'a--b.find',
      '**',
      ' core',
      'core\n',
    ],
    ...['constructor', 'toString', '__proto__', `con:${'a'.repeat(65)}`, `${'a'.repeat(65)}.find`, `crm.${'a'.repeat(129)}`],
  ])('refuses %p', (text) => expect(parseToolScope(text)).toBeUndefined());
});
