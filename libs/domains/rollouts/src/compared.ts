import { setImmediate as breathe } from 'node:timers/promises';
import {
  bootstrapDifference,
  bootstrapMean,
  confidenceSequence,
  differenceOfMeans,
  differenceOfShares,
  holm,
  meanOf,
  shareOf,
  significant,
  summaryOf,
  type Difference,
  type Estimate,
  type Sample,
  type Summary,
} from './statistics';

/** A figure of an arm, beside that of the control. Of the control itself, all that compares is null. */
export interface Compared {
  mean: number | null;
  ci_low: number | null;
  ci_high: number | null;
  n: number;
  delta: number | null;
  delta_ci_low: number | null;
  delta_ci_high: number | null;
  significant: boolean;
  p_value: number | null;
  p_value_adjusted: number | null;
  sequential_ci_low: number | null;
  sequential_ci_high: number | null;
  always_valid: boolean;
}

/** How a figure is estimated: values of 0 and 1 as shares; others as means, and those that are skewed by resampling. */
export type FigureKind = 'share' | 'mean' | 'skewed';

interface Comparing {
  kind: FigureKind;
  /** Place of the arm that the others are compared with; null where there is nothing to compare. */
  control: number | null;
  minSample: number;
  /** The same values and the same seed give the same intervals. */
  seed: string;
}

/** Digits that mean something: what is beyond is left by rounding in between. */
const rounded = (x: number | null | undefined): number | null => (x === null || x === undefined ? null : Number(x.toPrecision(12)));
const boundsOf = ({ ci }: Pick<Estimate, 'ci'>) => ({ low: rounded(ci?.low), high: rounded(ci?.high) });

/** Compares a figure of each arm with that of the control; in between, other requests of the process have their turn. */
export async function compare(samples: readonly Sample[], { kind, control, minSample, seed }: Comparing): Promise<Compared[]> {
  const summaries = samples.map(summaryOf);
  const estimates: Estimate[] = [];
  for (const [i, sample] of samples.entries()) {
    if (kind === 'skewed') estimates.push(await finished(bootstrapMean(sample, `${seed}/${i}`)));
    else estimates.push((kind === 'share' ? shareOf : meanOf)(summaries[i]));
    await breathe();
  }
  const differences: (Difference | null)[] = [];
  for (const [i, sample] of samples.entries())
    differences.push(
      control === null || i === control ? null : await difference(kind, [sample, samples[control]], summaries, [i, control], seed),
    );
  const adjusted = holm(differences.map((one) => one?.p_value ?? null));
  return samples.map((_, i) => {
    const [estimate, differs] = [estimates[i], differences[i]];
    const sequence = differs && confidenceSequence(summaries[i], summaries[control!], minSample);
    const [own, apart, always] = [boundsOf(estimate), boundsOf(differs ?? { ci: null }), boundsOf(sequence ?? { ci: null })];
    return {
      mean: rounded(estimate.mean),
      ci_low: own.low,
      ci_high: own.high,
      n: summaries[i].n,
      delta: rounded(differs?.delta),
      delta_ci_low: apart.low,
      delta_ci_high: apart.high,
      significant: differs !== null && significant(estimate.ci, estimates[control!].ci),
      p_value: rounded(differs?.p_value),
      p_value_adjusted: rounded(adjusted[i]),
      sequential_ci_low: always.low,
      sequential_ci_high: always.high,
      always_valid: sequence?.always_valid ?? false,
    };
  });
}

function difference(
  kind: FigureKind,
  [arm, control]: [Sample, Sample],
  summaries: readonly Summary[],
  [i, j]: [number, number],
  seed: string,
): Promise<Difference> | Difference {
  if (kind === 'skewed') return finished(bootstrapDifference(arm, control, `${seed}/${i}-${j}`));
  return (kind === 'share' ? differenceOfShares : differenceOfMeans)(summaries[i], summaries[j]);
}

async function finished<R>(steps: Generator<void, R, void>): Promise<R> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await breathe();
  }
}
