import {
  ArmDecisions,
  ArmDisputes,
  ArmMetric,
  ArmMetrics,
  ArmOutcome,
  ArmOutcomes,
  ArmResults as ArmResultsResponse,
  RolloutResultsResponse,
} from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { RolloutResults } from '../results.service';

export const toResults = (results: RolloutResults): RolloutResultsResponse =>
  answer(RolloutResultsResponse, results, {
    arms: results.arms.map(({ outcomes, metrics, decisions, ...arm }) =>
      answer(ArmResultsResponse, arm, {
        outcomes: answer(
          ArmOutcomes,
          mapped(outcomes, (o) => answer(ArmOutcome, o, { share: o.mean })),
        ),
        metrics: answer(
          ArmMetrics,
          mapped(metrics, (m) => answer(ArmMetric, m)),
        ),
        decisions: answer(ArmDecisions, decisions, {
          dispute_rate: answer(ArmDisputes, decisions.dispute_rate, { share: decisions.dispute_rate.mean }),
        }),
      }),
    ),
  });

const mapped = <K extends string, A, B>(of: Record<K, A>, convert: (value: A) => B): Record<K, B> =>
  Object.fromEntries(Object.entries<A>(of).map(([key, value]) => [key, convert(value)])) as Record<K, B>;
