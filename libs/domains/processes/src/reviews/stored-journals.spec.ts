import { STEP_KINDS } from '../definition';
import { runFactsOf } from '../engine/run-facts';
import { aDefinition } from '../testing/definition';
import { storedJournals } from '../testing/stored-journals';
import { replayed } from './replay.policy';

const stored = storedJournals();

describe('journals of every engine that there was', () => {
  it.each(stored)('are gone through as they were: $engine, $name', async ({ read }) => {
    const { definition, run, journal } = read();
    const { steps, ...over } = definition as { steps: unknown[] };
    const compared = journal.filter(({ note }) => note !== 'copied').length;
    expect(await replayed(aDefinition(steps, over), runFactsOf(run), journal)).toMatchObject({
      deterministic: true,
      first_divergence: null,
      compared,
    });
  });

  it('tell of a step that goes another way', async () => {
    const { definition, run, journal } = stored.find(({ name }) => name === 'steps that are computed')!.read();
    const { steps, ...over } = definition as { steps: unknown[] };
    for (const row of journal.filter(({ status }) => status === 'completed')) {
      const changed = journal.map((each) => (each === row ? { ...row, output: 'another' } : each));
      expect((await replayed(aDefinition(steps, over), runFactsOf(run), changed)).first_divergence).not.toBeNull();
    }
  });

  it('have steps of every kind, and every way in which one ends', () => {
    for (const engine of new Set(stored.map((each) => each.engine))) {
      const rows = stored.filter((each) => each.engine === engine).flatMap(({ read }) => read().journal);
      expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(STEP_KINDS));
      expect(new Set(rows.map(({ status }) => status))).toEqual(
        new Set(['completed', 'failed', 'skipped', 'cancelled', 'waiting', 'outcome_unknown']),
      );
      const resolved = new Set(rows.map(({ resolution }) => resolution?.kind));
      expect(resolved).toEqual(new Set([undefined, 'signal', 'answer', 'chat', 'run']));
    }
  });
});
