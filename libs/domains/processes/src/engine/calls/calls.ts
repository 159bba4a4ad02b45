import { Injectable } from '@nestjs/common';
import { referencesIn, type AgentStep, type Definition, type LlmStep, type PromptStep, type ToolStep } from '../../definition';
import { StepTools, type StepTool } from '../../tools/step-tools';
import type { JournalRow } from '../journal';
import type { HeldRun } from '../process-run.sql';
import type { CallResult } from './call-result';
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
   * @param signal aborts when nobody waits for it any more
   * @throws the reason of the signal, and what is a fault of ours; never what the other side says
   */
  make(run: HeldRun, row: JournalRow, step: PromptStep | LlmStep | ToolStep | AgentStep, signal: AbortSignal): Promise<CallResult> {
    switch (step.kind) {
      case 'llm':
        return this.llm.answer(run, row, step, signal);
      case 'agent':
        return this.llm.distill(run, row, step, signal);
      case 'prompt':
        return this.prompts.run(run, row, step, signal);
      case 'tool':
        return this.toolCalls.call(run, row, step, signal);
    }
  }
}
