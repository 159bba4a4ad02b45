export { bootstrapDifference, bootstrapMean } from './bootstrap';
export { holm, sampleRatio, type SampleRatio } from './comparisons';
export {
  differenceOfMeans,
  differenceOfShares,
  meanOf,
  shareOf,
  significant,
  type Difference,
  type Estimate,
  type Interval,
} from './estimates';
export { summaryOf, type Sample, type Summary } from './sample';
export { confidenceSequence, type Sequence } from './sequence';
