import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { ChatOrigin, Tool } from './tool';

/** The grants of an agent, as its sealed revision has them, and what the chat at hand leaves of them. */
export interface ToolGrants {
  allowed_tools: readonly string[];
  denied_tools: readonly string[];
  memory_enabled: boolean;
  mounted_skills: readonly string[];
  child_agent_ids: readonly string[];
  /** Of the scopes that a chat can switch, those that are on; null = all. */
  enabled_scopes: readonly string[] | null;
  /** Whether decisions are recorded and asked for. */
  decision_log: boolean;
  /** What began the chat at hand. */
  origin: ChatOrigin;
}

/** A tool as a model is told of it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

/** Longest tool result that a model gets, characters. */
export const MAX_RESULT_CHARS = 50_000;

/** Cuts a result that is too large and says so, where the model reads it. */
export function capResult(content: string): string {
  if (content.length <= MAX_RESULT_CHARS) return content;
  const head = content.slice(0, MAX_RESULT_CHARS);
  // Do not leave half a surrogate pair at the cut.
  const whole = head.isWellFormed() ? head : head.slice(0, -1);
  return `${whole}\n\n[cut: the result had ${content.length} characters, the first ${whole.length} are shown]`;
}

/** Every tool of the process, and who may call which. */
@Injectable()
export class ToolCatalog {
  private readonly tools = new Map<string, Tool>();
  private readonly specs = new Map<string, ToolSpec>();

  register(...tools: Tool[]): void {
    for (const tool of tools) {
      if (this.tools.has(tool.name)) throw new Error(`Two tools are named ${tool.name}`);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)) throw new Error(`${tool.name} is no name that a model can call`);
      const { $schema: _, ...parameters } = z.toJSONSchema(tool.parameters, { io: 'input' }) as Record<string, unknown>;
      this.tools.set(tool.name, tool);
      this.specs.set(tool.name, { name: tool.name, description: tool.description, parameters });
    }
  }

  /** What the model is offered. */
  offeredTo(grants: ToolGrants): ToolSpec[] {
    return [...this.tools.values()].filter((t) => reaches(grants, t)).map((t) => this.specs.get(t.name) as ToolSpec);
  }

  /** The tool behind a call; undefined when there is none or the agent's grants do not reach it. A model may ask for anything. */
  find(grants: ToolGrants, name: string): Tool | undefined {
    const tool = this.tools.get(name);
    return tool && reaches(grants, tool) ? tool : undefined;
  }

  /** The same by the tool's own name, for calls that were stored. */
  bySlug(grants: ToolGrants, slug: string): Tool | undefined {
    return [...this.tools.values()].find((t) => t.slug === slug && reaches(grants, t));
  }

  /** The tool that a text means, by slug or by name. Says nothing about who may call it. */
  named(text: string): Tool | undefined {
    return this.tools.get(text) ?? [...this.tools.values()].find((t) => t.slug === text);
  }

  /** The slug of what models call `name`; undefined for what is no tool. Says nothing about who may call it. */
  slugOf(name: string): string | undefined {
    return this.tools.get(name)?.slug;
  }
}

/** Scope of the tools that reach the web. */
export const WEB_SCOPE = 'system:web';

/** Whether a chat can switch a scope off: the web, and connections. */
export const isSwitchable = (scope: string): boolean => scope === WEB_SCOPE || scope.startsWith('con:');

/** Whether what is granted, or denied, has one of the scopes in it. Everything is in `*`. */
export const covers = (listed: readonly string[], ...scopes: string[]): boolean =>
  listed.some((scope) => scope === '*' || scopes.includes(scope));

/**
 * `core` is always granted; a deny of the scope, of the tool itself or of everything wins, of `core` too. A scope that the chat has
 * switched off is not reached, whatever is granted.
 */
export function reaches(grants: ToolGrants, tool: Tool): boolean {
  if (covers(grants.denied_tools, tool.scope, tool.slug)) return false;
  if (grants.enabled_scopes && isSwitchable(tool.scope) && !grants.enabled_scopes.includes(tool.scope)) return false;
  if (tool.availableTo && !tool.availableTo(grants)) return false;
  return tool.scope === 'core' || covers(grants.allowed_tools, tool.scope, tool.slug);
}

/**
 * Reads a model's arguments.
 *
 * @returns the checked value, or a sentence that tells the model what to mend
 */
export function parseArguments(tool: Tool, text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  let raw: unknown;
  try {
    raw = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return { ok: false, message: `The arguments of ${tool.name} are not valid JSON.` };
  }
  const result = tool.parameters.safeParse(raw);
  if (result.success) return { ok: true, value: result.data };
  const problems = result.error.issues.slice(0, 10).map((i) => `${i.path.map(String).join('.') || 'arguments'}: ${i.message}`);
  return { ok: false, message: `The arguments of ${tool.name} are not valid. ${problems.join('; ')}` };
}
