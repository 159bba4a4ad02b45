import { effectOf, type AccessLevel } from './tool';

describe('where a tool has its effect', () => {
  const out = { callOut: () => Promise.resolve({ kind: 'result' as const, content: '' }) };
  const effect = (accessLevel: AccessLevel, hints?: object) => effectOf({ ...out, accessLevel, hints });

  it('is in our database unless it calls out', () => {
    expect(effectOf({ accessLevel: 'destructive' })).toBe('inside');
  });

  it('may be repeated where it only reads or is declared idempotent', () => {
    expect([effect('read'), effect('write', { idempotentHint: true }), effect('destructive', { idempotentHint: true })]).toEqual([
      'repeatable',
      'repeatable',
      'repeatable',
    ]);
  });

  it('may not be repeated where nothing says so: its level counts, which a server’s hints cannot lower', () => {
    expect([effect('write'), effect('destructive', { idempotentHint: false }), effect('write', { readOnlyHint: true })]).toEqual([
      'once',
      'once',
      'once',
    ]);
  });
});
