import { Money, text } from '@aps/billing';
import {
  CheckedBefore,
  DraftCheckItem,
  DraftCheckResponse,
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
import { answer } from '@aps/platform/http';
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

export function toDraftCheck(check: DraftCheck, hideDollars: boolean): DraftCheckResponse {
  const { cases, billing_unit } = check;
  const bare = isBare(check, hideDollars);
  const count = (set: CheckedCase['set'] | null, ...verdicts: string[]) =>
    cases.filter((one) => (set === null || one.set === set) && one.result && verdicts.includes(one.result.verdict)).length;
  const cost = bare || cases.some((one) => one.cost === null) ? null : text(cases.reduce((sum, one) => sum.plus(one.cost!), new Money(0)));
  return answer(DraftCheckResponse, check, {
    ...fieldsOf(check, bare),
    totals: answer(DraftCheckTotals, {
      cases: cases.length,
      fixed: count('regression', 'agrees'),
      still_wrong: count('regression', 'differs', 'no_decision'),
      guard_broken: count('guard', 'differs', 'no_decision'),
      unjudged: count(null, 'unjudged', 'error'),
      cost_credits: billing_unit === 'credits' ? cost : null,
      cost_usd: billing_unit === 'usd' ? cost : null,
    }),
    items: cases.map((one) =>
      answer(DraftCheckItem, one, {
        was: answer(CheckedBefore, one),
        now: one.result?.now ? decisionOf(one.result.now) : null,
        verdict: one.result?.verdict ?? null,
        judged_by: one.result?.judged_by ?? null,
        error: failureOf(one.result?.error ?? null),
      }),
    ),
  });
}

function simulated(simulation: Simulation, bare: boolean) {
  const { budget, totals } = simulation;
  const costs = bare && { cost_before: null, cost_after: null };
  return { ...fieldsOf(simulation, bare), budget: bare ? null : budget, totals: answer(SimulationTotals, { ...totals, ...costs }) };
}

export const toSimulation = (simulation: Simulation, hideDollars: boolean): SimulationResponse =>
  answer(SimulationResponse, simulation, simulated(simulation, isBare(simulation, hideDollars)));

export function toSimulationDetail(simulation: Simulation & { chats: SimulatedChat[] }, hideDollars: boolean): SimulationDetailResponse {
  const bare = isBare(simulation, hideDollars);
  const doingsOf = (doings: SimulatedChat['after']) =>
    doings && answer(SimulatedDoings, doings, { decisions: doings.decisions.map(decisionOf), cost: bare ? null : doings.cost });
  return answer(SimulationDetailResponse, simulation, {
    ...simulated(simulation, bare),
    items: simulation.chats.map((chat) =>
      answer(SimulatedChatResponse, chat, { before: doingsOf(chat.before), after: doingsOf(chat.after), error: failureOf(chat.error) }),
    ),
  });
}
