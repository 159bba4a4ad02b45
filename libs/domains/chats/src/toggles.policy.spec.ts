import { DomainError } from '@aps/contracts';
import {
  enabledAfter,
  reachesConnection,
  requireOneChange,
  sameScopes,
  WEB_TOGGLE,
  type Toggle,
  type ToggleChange,
} from './toggles.policy';

const connection = (slug: string): Toggle => ({ scope: `con:${slug}`, label: slug, kind: 'connection', connection_id: `con_${slug}` });
const known = [WEB_TOGGLE, connection('mail'), connection('crm')];
const [web, mail, crm] = known.map((t) => t.scope);
const on = (...scopes: string[]): ToggleChange => ({ toggles: scopes.map((scope) => ({ scope, enabled: true })) });
const off = (...scopes: string[]): ToggleChange => ({ toggles: scopes.map((scope) => ({ scope, enabled: false })) });
const problemsOf = (fn: () => unknown): unknown => {
  try {
    fn();
  } catch (error) {
    const { code, problems } = error as DomainError;
    return [code, problems?.map(({ loc, type }) => [loc, type])];
  }
  return undefined;
};

describe('enabledAfter', () => {
  it.each<[string, string[] | null, ToggleChange, string[] | null]>([
    ['turns one of all off', null, off(mail), [web, crm]],
    ['turns the last off', [mail], off(mail), []],
    ['leaves all on when nothing is turned off', null, on(mail), null],
    ['adds one, in the order of what is known', [crm], on(web), [web, crm]],
    ['comes back to all with the last that was off', [web, crm], on(mail), null],
    ['keeps a list of all that was given', [web, mail, crm], on(web), [web, mail, crm]],
    ['keeps what is not known now', [web, 'con:broken'], off(web), ['con:broken']],
    ['changes nothing for no toggles', [crm], { toggles: [] }, [crm]],
    ['replaces by a list', null, { enabled_scopes: [crm, web] }, [web, crm]],
    ['replaces by nothing', null, { enabled_scopes: [] }, []],
    ['replaces by all', [web], { enabled_scopes: null }, null],
    ['forgets what is not known when it replaces', ['con:broken'], { enabled_scopes: [web] }, [web]],
  ])('%s', (_, current, change, after) => expect(enabledAfter(known, [], current, change)).toEqual(after));

  it.each<[string, string[] | null, ToggleChange, string[] | null]>([
    ['leaves on what else is on, when one of all is turned off', null, off(mail), [web, crm, 'con:broken', 'con:theirs']],
    ['does not turn on what else is off', [web, crm, 'con:broken'], on(mail), [web, mail, crm, 'con:broken']],
    ['comes back to all where nothing else is off', [web, crm, 'con:theirs', 'con:broken'], on(mail), null],
    ['keeps what the caller does not see when it replaces all', null, { enabled_scopes: [web] }, [web, 'con:theirs']],
    ['and when it replaces a list that has it', ['con:broken', 'con:theirs'], { enabled_scopes: [web] }, [web, 'con:theirs']],
    ['and adds what is off to no list', [mail], { enabled_scopes: [web] }, [web]],
  ])('beside what the caller cannot switch: %s', (_, current, change, after) => {
    const others = [
      { scope: 'con:broken', isSeen: true },
      { scope: 'con:theirs', isSeen: false },
    ];
    expect(enabledAfter(known, others, current, change)).toEqual(after);
  });

  it('refuses each scope that there is not, where it stands', () => {
    expect(problemsOf(() => enabledAfter(known, [], null, on(web, 'core', mail, 'con:other')))).toEqual([
      'unknown_reference',
      [
        [['body', 'toggles', 1, 'scope'], 'semantic.unknown_reference'],
        [['body', 'toggles', 3, 'scope'], 'semantic.unknown_reference'],
      ],
    ]);
    expect(problemsOf(() => enabledAfter(known, [], null, { enabled_scopes: [web, 'con:broken'] }))).toEqual([
      'unknown_reference',
      [[['body', 'enabled_scopes', 1], 'semantic.unknown_reference']],
    ]);
    // What is kept from before is not thereby there.
    expect(problemsOf(() => enabledAfter(known, [], ['con:broken'], off('con:broken')))).toEqual([
      'unknown_reference',
      [[['body', 'toggles', 0, 'scope'], 'semantic.unknown_reference']],
    ]);
  });
});

describe('requireOneChange', () => {
  it.each<[string, ToggleChange, unknown]>([
    ['one of them', off(web), undefined],
    ['null, which is a value', { enabled_scopes: null }, undefined],
    ['neither', {}, ['validation_error', [[['body'], 'value_error']]]],
    ['both', { ...off(web), enabled_scopes: null }, ['validation_error', [[['body'], 'value_error']]]],
    [
      'two words about one scope',
      { toggles: [...on(web).toggles!, ...off(web).toggles!] },
      ['validation_error', [[['body', 'toggles', 1, 'scope'], 'value_error']]],
    ],
  ])('judges %s', (_, change, problems) => expect(problemsOf(() => requireOneChange(change))).toEqual(problems));
});

describe('reachesConnection', () => {
  it.each<[string, string[], string[], boolean]>([
    ['everything granted', ['*'], [], true],
    ['the connection granted', ['con:mail'], [], true],
    ['one tool of it granted', ['mail.send'], [], true],
    ['nothing granted', ['core', 'system:web'], [], false],
    ['another granted', ['con:mailer', 'mailer.send'], [], false],
    ['denied', ['*', 'con:mail'], ['con:mail'], false],
    ['everything denied', ['*', 'con:mail', 'mail.send'], ['*'], false],
    ['one tool of it denied', ['con:mail'], ['mail.send'], true],
  ])('with %s', (_, allowed_tools, denied_tools, reached) =>
    expect(reachesConnection({ allowed_tools, denied_tools }, mail)).toBe(reached),
  );
});

it('sameScopes does not look at the order', () => {
  expect([
    sameScopes([web, mail], [mail, web]),
    sameScopes([web], [mail]),
    sameScopes([], null),
    sameScopes(null, null),
    sameScopes([web], [web, mail]),
  ]).toEqual([true, false, false, true, false]);
});
