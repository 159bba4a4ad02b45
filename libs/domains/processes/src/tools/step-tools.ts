import { Injectable } from '@nestjs/common';
import type { AccessLevel } from '@aps/tools';

/** Where a call of a tool by a step stands. */
export interface StepToolContext {
  orgId: string;
  runId: string;
  /** What the run was begun with. */
  envelope: Record<string, unknown>;
  /** `<run>/<path of the step>`, the same for every try of it. */
  idempotencyKey: string;
  /** So long it may take. */
  timeoutMs: number;
  /** Aborted when the call has taken too long, or its run is over. */
  signal: AbortSignal;
}

/** What a call came to: its answer, or what the other side has refused. */
export type StepToolResult =
  | { output: unknown }
  /** It may be tried again as it is. */
  | { failed: string }
  /** As it is, it will be refused again; whether other arguments might do. */
  | { rejected: string; mendable: boolean };

/** A tool as steps of processes call it. */
export interface StepTool {
  slug: string;
  accessLevel: AccessLevel;
  /** Whether a call that is made again under its key does nothing more. */
  idempotent: boolean;
  /** Where that depends on what is asked for. */
  isRepeatable?: (args: Record<string, unknown>) => boolean;
  /** JSON Schema of the arguments as it was declared, whether or not values can be checked by it. */
  inputSchema: Record<string, unknown>;
  connectionId: string | null;
  /** Throws `NotSent` for what has surely not reached the other side; after anything else that is thrown the call may have had its effect. */
  call(args: Record<string, unknown>, context: StepToolContext): Promise<StepToolResult>;
}

/** Whether a call may be made a second time where nobody knows what became of the first. Of a tool that is not there nobody knows, and it may come back. */
export const isRepeatable = (tool: StepTool | null | undefined, args: Record<string, unknown>): boolean =>
  !!tool && (tool.isRepeatable ? tool.isRepeatable(args) : tool.accessLevel === 'read' || tool.idempotent);

/** Finds tools that steps may call. */
export abstract class StepToolSource {
  /** Null where it has none of this slug, or the organization may not use it. */
  abstract find(orgId: string, slug: string): Promise<StepTool | null>;
  /** Slugs of those that there are, for who has misspelt one. */
  abstract slugs(orgId: string): Promise<string[]>;
}

/** The tools that steps of processes may call: our own, and those of whatever domain registers a source. */
@Injectable()
export class StepTools implements StepToolSource {
  private readonly sources: StepToolSource[] = [];
  private readonly own = new Map<string, StepTool>();

  register(...tools: StepTool[]): void {
    for (const tool of tools) this.own.set(tool.slug, tool);
  }

  registerSource(source: StepToolSource): void {
    this.sources.push(source);
  }

  async find(orgId: string, slug: string): Promise<StepTool | null> {
    const own = this.own.get(slug);
    if (own) return own;
    for (const source of this.sources) {
      const found = await source.find(orgId, slug);
      if (found) return found;
    }
    return null;
  }

  async slugs(orgId: string): Promise<string[]> {
    const others = await Promise.all(this.sources.map((source) => source.slugs(orgId)));
    return [...this.own.keys(), ...others.flat()].sort();
  }
}
