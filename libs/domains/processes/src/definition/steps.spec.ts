import { referencesIn, stepsOf } from './steps';
import { branch, EVERYTHING, flag, loop, parallel, read, say } from './testing/definitions';
import { warningsOf } from './warnings';

describe('the steps of a definition', () => {
  it('are listed with their places', () => {
    const definition = read({
      steps: [say('a'), loop('l', branch('b', [say('c')], [parallel('p', [], [say('d')])]))],
      on_error: [{ match: 'x' }, { match: '*', steps: [say('e')] }],
    });
    expect(
      stepsOf(definition).map(({ step, path, field, within, handler }) => [
        path,
        field,
        step.id,
        within.map(({ id }) => id).join(),
        handler,
      ]),
    ).toEqual([
      ['a', 'steps.0', 'a', '', null],
      ['l', 'steps.1', 'l', '', null],
      ['l/b', 'steps.1.steps.0', 'b', 'l', null],
      ['l/b/0/c', 'steps.1.steps.0.branches.0.steps.0', 'c', 'l,b', null],
      ['l/b/else/p', 'steps.1.steps.0.else.0', 'p', 'l,b', null],
      ['l/b/else/p/p_1/d', 'steps.1.steps.0.else.0.branches.1.steps.0', 'd', 'l,b,p', null],
      ['e', 'on_error.1.steps.0', 'e', '', 1],
    ]);
  });

  it('name what lies outside', () => {
    const definition = read({ ...EVERYTHING, on_error: [{ match: '*', steps: [{ id: 'mail', kind: 'tool', tool: 'mail.send' }] }] });
    expect(referencesIn(definition)).toEqual({
      tools: [
        { step_id: 'find', tool: 'crm.find_customer' },
        { step_id: 'mail', tool: 'mail.send' },
      ],
      agents: [{ step_id: 'research', agent: 'researcher' }],
      templates: [{ step_id: 'extract', template: 'invoice' }],
      processes: [{ step_id: 'sub', process: 'billing' }],
      models: [{ step_id: 'answer', model: 'small' }],
    });
  });
});

describe('warnings', () => {
  const warned = (...steps: unknown[]) => warningsOf(read({ steps })).map(({ step_id, field }) => `${step_id}:${field}`);

  it.each<[string, unknown[], string[]]>([
    ['nothing', [say('a'), flag('b')], []],
    ['a step after a flag, once', [flag('a'), say('b'), say('c')], ['b:']],
    [
      'a step after a branch that flags in every way',
      [branch('a', [say('x'), flag('y')], [branch('z', [flag('f')], [flag('g')])]), say('b')],
      ['b:'],
    ],
    ['no step after a branch with a way on', [branch('a', [flag('y')], [say('z')]), say('b')], []],
    ['no step after a branch with no else', [branch('a', [flag('y')], []), say('b')], []],
    ['no step after a loop', [loop('a', flag('y')), say('b')], []],
    ['steps within', [loop('a', flag('y'), say('z'))], ['z:']],
    [
      'a human without a timeout',
      [
        { id: 'a', kind: 'human', prompt: 'x' },
        { id: 'b', kind: 'human', prompt: 'x', timeout_s: 1 },
      ],
      ['a:timeout_s'],
    ],
  ])('tell %s', (_, steps, expected) => expect(warned(...steps)).toEqual(expected));

  it('tell tools that write twice, of which others know', () => {
    const definition = read({
      steps: ['one', 'two'].map((tool) => ({ id: tool, kind: 'tool', tool })),
      on_error: [{ match: '*', steps: [flag('f'), say('g')] }],
    });
    expect(warningsOf(definition, { writesTwice: ({ tool }) => tool === 'two' }).map(({ step_id }) => step_id)).toEqual(['g', 'two']);
  });
});
