import {
  CheckedBefore,
  DraftCheckItem,
  DraftCheckResponse,
  DraftCheckSummary,
  DraftCheckTotals,
  ReplayEstimate,
  ReplayFailure,
  ReplayQuoteResponse,
  ReplayedDecision as ReplayedDecisionResponse,
  SimulatedChat as SimulatedChatResponse,
  SimulatedDoings,
  SimulationDetailResponse,
  SimulationResponse,
  SimulationTotals,
} from '@aps/dtos';
import type { Replay, ReplayEstimate as Estimate } from '@aps/entities';
import type { Listed } from '@aps/platform/database';
import { answer, toObject, type PageStream } from '@aps/platform/http';
import type { CheckedCase, DraftCheck } from '../draft-checks.service';
import type { ReplayedDecision } from '../replay.policy';
import type { SimulatedChat, Simulation } from '../simulations.service';

export const toQuote = (estimate: Estimate): ReplayQuoteResponse => ({ estimate: answer(ReplayEstimate, estimate) });

const failureOf = (error: { code: string; message: string } | null) => error && answer(ReplayFailure, error);
const decisionOf = (decision: ReplayedDecision) => answer(ReplayedDecisionResponse, decision);
/** Of a replay that was in dollars, for an organization that pays in credits since. */
const isBare = ({ billing_unit }: Pick<Replay, 'billing_unit'>, hideDollars: boolean): boolean => hideDollars && billing_unit === 'usd';
const fieldsOf = ({ estimate, error }: Pick<Replay, 'estimate' | 'error'>, bare: boolean) => ({
  estimate: answer(ReplayEstimate, { ...estimate, ...(bare && { usd: null }) }),
  error: failureOf(error),
});

export function toDraftCheck(
  check: DraftCheck,
  cases: Listed<CheckedCase>,
  hideDollars: boolean,
): DraftCheckResponse | PageStream<DraftCheckResponse> {
  const { billing_unit, totals } = check;
  const bare = isBare(check, hideDollars);
  const cost = (unit: Replay['billing_unit']) => (billing_unit === unit && !bare ? totals.cost : null);
  const beside = answer(DraftCheckSummary, check, {
    ...fieldsOf(check, bare),
    totals: answer(DraftCheckTotals, totals, { cost_credits: cost('credits'), cost_usd: cost('usd') }),
  });
  return toObject(beside, 'items', cases, (one) =>
    answer(DraftCheckItem, one, {
      was: answer(CheckedBefore, one),
      now: one.result?.now ? decisionOf(one.result.now) : null,
      judged_by: one.result?.judged_by ?? null,
      error: failureOf(one.result?.error ?? null),
    }),
  );
}

function simulated(simulation: Simulation, bare: boolean) {
  const { budget, spent, totals } = simulation;
  const costs = bare && { cost_before: null, cost_after: null };
  const own = bare ? { budget: null, spent: null } : { budget, spent };
  return { ...fieldsOf(simulation, bare), ...own, totals: answer(SimulationTotals, { ...totals, ...costs }) };
}

export const toSimulation = (simulation: Simulation, hideDollars: boolean): SimulationResponse =>
  answer(SimulationResponse, simulation, simulated(simulation, isBare(simulation, hideDollars)));

export function toSimulationDetail(
  simulation: Simulation,
  chats: Listed<SimulatedChat>,
  hideDollars: boolean,
): SimulationDetailResponse | PageStream<SimulationDetailResponse> {
  const bare = isBare(simulation, hideDollars);
  const doingsOf = (doings: SimulatedChat['after']) =>
    doings && answer(SimulatedDoings, doings, { decisions: doings.decisions.map(decisionOf), cost: bare ? null : doings.cost });
  return toObject(toSimulation(simulation, hideDollars), 'items', chats, (chat) =>
    answer(SimulatedChatResponse, chat, { before: doingsOf(chat.before), after: doingsOf(chat.after), error: failureOf(chat.error) }),
  );
}
