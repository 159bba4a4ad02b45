import { Injectable } from '@nestjs/common';
import { referencesIn, type Definition } from '../../definition';
import { StepTools, type StepTool } from '../../tools/step-tools';
import type { JournalRow } from '../journal';
import { heldBy, MAX_OUTCOME, type Call } from '../progress';
import type { HeldRun } from '../process-run.sql';
import { failed, type CallHold, type CallResult } from './call-result';
import { LlmCalls } from './llm-calls';
import { PromptCalls } from './prompt-calls';
import { ToolCalls } from './tool-calls';

/** Makes the calls of steps: to models, prompt templates and tools. */
@Injectable()
export class Calls {
  constructor(
    private readonly tools: StepTools,
    private readonly llm: LlmCalls,
    private readonly prompts: PromptCalls,
    private readonly toolCalls: ToolCalls,
  ) {}

  /** The tools that a definition names, by slug; without those that are not there any more. */
  async toolsOf(orgId: string, definition: Definition): Promise<Map<string, StepTool>> {
    const slugs = [...new Set(referencesIn(definition).tools.map(({ tool }) => tool))];
    const found = await Promise.all(slugs.map((slug) => this.tools.find(orgId, slug)));
    return new Map(slugs.flatMap((slug, i) => (found[i] ? [[slug, found[i]] as const] : [])));
  }

  /**
   * @throws the reason of the signal, LeaseEnded where others may make it by now, and what is a fault of ours; never what the other side says
   */
  async make(run: HeldRun, row: JournalRow, step: Call['step'], hold: CallHold): Promise<CallResult> {
    const result = await this.made(run, row, step, hold);
    const { outcome } = result;
    if (outcome.status !== 'completed' || heldBy(outcome.output) <= MAX_OUTCOME) return result;
    const code = step.kind === 'tool' ? 'tool_error' : 'output_schema';
    return { ...result, outcome: failed(code, `The answer takes more than ${MAX_OUTCOME} bytes of memory.`) };
  }

  private made(run: HeldRun, row: JournalRow, step: Call['step'], hold: CallHold): Promise<CallResult> {
    switch (step.kind) {
      case 'llm':
        return this.llm.answer(run, row, step, hold.signal);
      case 'agent':
        return this.llm.distill(run, row, step, hold.signal);
      case 'prompt':
        return this.prompts.run(run, row, step, hold.signal);
      case 'tool':
        return this.toolCalls.call(run, row, step, hold);
    }
  }
}
