import { Injectable } from '@nestjs/common';
import type { PromptRun, StepError } from '@aps/entities';
import { storable, type Tx } from '@aps/platform/database';
import type { PreparedPrompt } from '@aps/prompts';
import { uuidv7 } from 'uuidv7';
import { ADD_AGENT_CALL } from '../agent-calls.sql';
import type { JournalRow } from '../journal';
import type { LoadedRun } from '../process-run.sql';
import { ADD_LLM_CALL, ADD_REPAIR } from './ledgers.sql';
import type { ModelAnswer } from './model-call';

const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(storable(value)));

/** A model's proposal of how refused arguments are mended. */
export interface Repair {
  tool_slug: string;
  attempt: number;
  /** What the tool has said. */
  error: string;
  fixable: boolean;
  reason: string | null;
  payload_diff: unknown[];
}

type LedgerLine = Omit<ModelAnswer, 'value' | 'charge' | 'duration_ms'> & { duration_ms: number | null };

/** The ledgers of a run: what its steps have asked models, and what came of it. */
@Injectable()
export class Ledgers {
  async llm(tx: Tx, run: LoadedRun, row: JournalRow, answer: LedgerLine): Promise<void> {
    await tx.execute(ADD_LLM_CALL, [
      answer.id,
      run.org_id,
      run.id,
      row.step_id,
      row.path,
      answer.requested,
      answer.resolved?.resolved_model ?? null,
      answer.resolved?.route.slug ?? null,
      json(answer.usage),
      answer.cost_usd,
      answer.cost_credits,
      answer.duration_ms,
      answer.error ? 'failed' : 'succeeded',
      json(answer.request),
      json(answer.response),
      json(answer.error),
    ]);
  }

  /** All that a template has asked its model for, in one line: so it is charged. */
  async prompt(
    tx: Tx,
    run: LoadedRun,
    row: JournalRow,
    call: { requested: string | null; prepared: PreparedPrompt; asked: PromptRun; error: StepError | null },
  ): Promise<void> {
    const { requested, prepared, asked, error } = call;
    const { template, model, text, preview } = prepared;
    await this.llm(tx, run, row, {
      id: uuidv7(),
      requested,
      resolved: model,
      usage: asked.usage,
      cost_usd: asked.cost_usd,
      cost_credits: asked.cost_credits,
      duration_ms: asked.duration_ms,
      error,
      request: [...(template.fields.length && text ? [{ role: 'system', content: text }] : []), { role: 'user', content: preview }],
      response: asked.output === null ? [] : [{ role: 'assistant', content: asked.output }],
    });
  }

  async distill(tx: Tx, row: JournalRow, answer: ModelAnswer): Promise<void> {
    await tx.execute(ADD_AGENT_CALL, [
      row.id,
      answer.id,
      'distill',
      row.chat_id,
      null,
      null,
      json(answer.usage),
      answer.cost_usd,
      answer.cost_credits,
      answer.error ? 'failed' : 'succeeded',
      json(answer.request),
      json(answer.value),
    ]);
  }

  async repair(tx: Tx, run: LoadedRun, row: JournalRow, repair: Repair, answer: ModelAnswer): Promise<void> {
    await tx.execute(ADD_REPAIR, [
      answer.id,
      run.org_id,
      run.id,
      row.step_id,
      row.path,
      repair.tool_slug,
      repair.attempt,
      storable(repair.error),
      repair.fixable,
      storable(repair.reason),
      json(repair.payload_diff),
      json(answer.usage),
      answer.cost_usd,
      answer.cost_credits,
      json(answer.request),
      json(answer.response),
    ]);
  }
}
