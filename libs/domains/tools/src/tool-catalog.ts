import { Injectable } from '@nestjs/common';
import { labelOf, type ChatOrigin, type Tool } from './tool';

/** The grants of an agent, as its sealed revision has them, and what the chat at hand leaves of them. */
export interface ToolGrants {
  allowed_tools: readonly string[];
  denied_tools: readonly string[];
  memory_enabled: boolean;
  mounted_skills: readonly string[];
  child_agent_ids: readonly string[];
  /** Bases that may be read, by id. */
  knowledge_base_ids: readonly string[];
  /** Of the scopes that a chat can switch, those that are on; null = all. */
  enabled_scopes: readonly string[] | null;
  /** Whether decisions are recorded and asked for. */
  decision_log: boolean;
  /** What began the chat at hand. */
  origin: ChatOrigin;
  /** Where its commands run; null: nowhere. */
  environment: Workplace | null;
}

/** Where commands of a chat run, and the chat at whose root it is, since all below share their files. */
export interface Workplace {
  id: string;
  root_chat_id: string;
}

/** A tool as a model is told of it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

const specs = new WeakMap<Tool, ToolSpec>();

/** The same object each time, since clients write a tool in a provider's words once for each that they meet. */
function specOf(tool: Tool): ToolSpec {
  const { name, description, schema } = tool;
  let spec = specs.get(tool);
  if (!spec) specs.set(tool, (spec = { name, description, parameters: schema }));
  return spec;
}

/** So many mistakes in its arguments a model is told at once. */
const MAX_PROBLEMS = 10;

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

/** Whose turn calls: its organization, who it acts for, and what it is granted. */
export interface ToolCaller {
  orgId: string;
  /** The user on whose behalf; null where on nobody's. */
  principalId: string | null;
  grants: ToolGrants;
}

/** Has tools that are not the same for everybody. What of them is reached, the grants say. */
export interface ToolSource {
  /** Those that the organization has and the principal may use; those that the grants cannot reach may be left out. Names are no others'. */
  toolsOf(caller: ToolCaller): Promise<Tool[]>;
}

/** The tools that a turn reaches, in the order in which models are told of them. */
export class ToolSet {
  private readonly byName: ReadonlyMap<string, Tool>;

  constructor(
    readonly grants: ToolGrants,
    tools: Iterable<Tool>,
  ) {
    this.byName = new Map([...tools].filter((tool) => reaches(grants, tool)).map((tool) => [tool.name, tool]));
  }

  /** What the model is offered. */
  offered(): ToolSpec[] {
    return Array.from(this.byName.values(), specOf);
  }

  /** The tool behind a call; undefined when there is none or the grants do not reach it. A model may ask for anything. */
  find(name: string): Tool | undefined {
    return this.byName.get(name);
  }

  /** The same by the tool's own name, for calls that were stored. */
  bySlug(slug: string): Tool | undefined {
    return [...this.byName.values()].find((tool) => tool.slug === slug);
  }

  /** The tool that a text means, by name or by slug. */
  named(text: string): Tool | undefined {
    return this.find(text) ?? this.bySlug(text);
  }
}

/** Every tool of the process, and where more of them come from. */
@Injectable()
export class ToolCatalog {
  private readonly tools = new Map<string, Tool>();
  private readonly sources: ToolSource[] = [];

  register(...tools: Tool[]): void {
    for (const tool of tools) {
      if (this.tools.has(tool.name)) throw new Error(`Two tools are named ${tool.name}`);
      if (!TOOL_NAME.test(tool.name)) throw new Error(`${tool.name} is no name that a model can call`);
      this.tools.set(tool.name, tool);
    }
  }

  registerSource(source: ToolSource): void {
    this.sources.push(source);
  }

  /** Our own, which are the same for everybody. */
  own(): Tool[] {
    return [...this.tools.values()];
  }

  /** What a turn reaches. Holds for the whole of it. */
  async of(caller: ToolCaller): Promise<ToolSet> {
    const others = await Promise.all(this.sources.map((source) => source.toolsOf(caller)));
    return new ToolSet(caller.grants, [...this.tools.values(), ...others.flat()]);
  }

  /** As {@link labelOf} of what models call `name`, where nothing more is known of its turn. */
  labelOf(name: string): string {
    return labelOf(this.tools.get(name));
  }
}

/** What models can call a tool. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Scope of the tools that reach the web. */
export const WEB_SCOPE = 'system:web';

/** Scope of the tools that run commands. */
export const EXEC_SCOPE = 'system:exec';

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
  const result = tool.parse(raw);
  return result.ok
    ? result
    : { ok: false, message: `The arguments of ${tool.name} are not valid. ${result.problems.slice(0, MAX_PROBLEMS).join('; ')}` };
}
