import { Injectable } from '@nestjs/common';
import { storable, type Tx } from '@aps/platform/database';
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

/** The ledgers of a run: what its steps have asked models, and what came of it. */
@Injectable()
export class Ledgers {
  async llm(tx: Tx, run: LoadedRun, row: JournalRow, answer: ModelAnswer): Promise<void> {
    await tx.execute(ADD_LLM_CALL, [
      uuidv7(),
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

  async distill(tx: Tx, row: JournalRow, answer: ModelAnswer): Promise<void> {
    await tx.execute(ADD_AGENT_CALL, [
      row.id,
      uuidv7(),
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
      uuidv7(),
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
