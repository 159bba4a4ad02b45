import { Injectable } from '@nestjs/common';
import {
  defineTool,
  EXEC_SCOPE,
  NotSent,
  ToolCatalog,
  toolError,
  toolResult,
  type CallLimits,
  type ToolContext,
  type ToolGrants,
  type ToolResult,
} from '@aps/tools';
import { z } from 'zod';
import { Commands, EnvironmentUnavailable, type WantedCommand } from '../commands/commands.service';
import type { CommandEnd } from '../commands/commands.sql';
import { EXEC_TIMEOUT_BOUNDS } from '../environments.policy';
import { WORKSPACE } from '../sandbox/sandbox-driver';
import { insideWorkspace } from './paths.policy';

/** Of an output stream, or a file, characters that a model is told: with what is around them they are less than a result may have. */
const MAX_TOLD = 20_000;
const MAX_FILE = 512 * 1024;
/** The command has a ceiling of its own, and the wait before it one, too. */
const LIMITS: CallLimits = { idleMs: 4_500_000, totalMs: 4_500_000 };
/** Who makes the call again finds the command that it has, so none runs twice. */
const REPEATABLE = { idempotentHint: true };

const path = z
  .string()
  .min(1)
  .max(1_000)
  .transform((given, context) => {
    const inside = insideWorkspace(given);
    if (inside !== null) return inside;
    context.addIssue({ code: 'custom', message: `must be within ${WORKSPACE}` });
    return z.NEVER;
  })
  .describe(`Within ${WORKSPACE}; relative paths begin there`);

/** The tools by which agents use their environment. */
@Injectable()
export class ExecTools {
  constructor(
    private readonly commands: Commands,
    catalog: ToolCatalog,
  ) {
    const common = { scope: EXEC_SCOPE, limits: LIMITS, hints: REPEATABLE, availableTo: hasEnvironment };
    catalog.register(
      defineTool({
        ...{ ...common, slug: 'run_command', name: 'run_command', accessLevel: 'write' },
        description:
          'Runs a shell command (`sh -c`) in your environment and waits for it. ' +
          `What you leave in ${WORKSPACE} is there for the next command of this chat; processes are not.`,
        parameters: z.object({
          command: z.string().min(1).max(32_000),
          workdir: path.optional(),
          timeout_s: z
            .number()
            .int()
            .min(1)
            .max(EXEC_TIMEOUT_BOUNDS.max)
            .optional()
            .describe('Seconds; the environment has a ceiling, too'),
        }),
        callOut: async ({ command, workdir, timeout_s }, context) => {
          const end = await this.made(context, { ...NO_FILE, kind: 'exec', command, workdir: workdir ?? WORKSPACE, timeoutS: timeout_s });
          return 'kind' in end ? end : toldOf(end);
        },
      }),
      defineTool({
        ...{ ...common, slug: 'read_file', name: 'read_file', accessLevel: 'read' },
        description: 'Reads a text file of your environment.',
        parameters: z.object({ path }),
        callOut: async ({ path }, context) => {
          const end = await this.made(context, { ...NO_FILE, kind: 'get_file', path });
          if ('kind' in end) return end;
          if (end.exit_code !== 0 || end.content === null) return failed(end.stderr || end.error || 'The file cannot be read.');
          const text = end.content.toString('utf8');
          const { text: content, isCut } = ends(text);
          return toolResult({ path, content, bytes: end.content.length, truncated: end.truncated || isCut });
        },
      }),
      defineTool({
        ...{ ...common, slug: 'write_file', name: 'write_file', accessLevel: 'write' },
        description: 'Writes a text file of your environment, over what was there; folders on the way are made.',
        parameters: z.object({ path, content: z.string().max(MAX_FILE) }),
        callOut: async ({ path, content }, context) => {
          const bytes = Buffer.from(content, 'utf8');
          if (bytes.length > MAX_FILE) return failed(`A file may have ${MAX_FILE} bytes.`);
          const end = await this.made(context, { ...NO_FILE, kind: 'put_file', path, content: bytes });
          if ('kind' in end) return end;
          return end.exit_code === 0
            ? toolResult({ path, bytes: bytes.length })
            : failed(end.stderr || end.error || 'The file cannot be written.');
        },
      }),
      defineTool({
        ...{ ...common, slug: 'list_files', name: 'list_files', accessLevel: 'read' },
        description: 'Lists a folder of your environment; names of folders end with a slash.',
        parameters: z.object({ path: path.optional() }),
        callOut: async ({ path = WORKSPACE }, context) => {
          const end = await this.made(context, { ...NO_FILE, kind: 'exec', command: 'ls -1Ap', workdir: path });
          if ('kind' in end) return end;
          if (end.exit_code !== 0) return failed(end.stderr || end.error || 'The folder cannot be listed.');
          return toolResult({ path, ...cut('files', end.stdout) });
        },
      }),
    );
  }

  /** @returns what a command came to; or what a model is told where nobody can say */
  private async made(context: ToolContext, wanted: WantedCommand): Promise<CommandEnd | ToolResult> {
    const { orgId, chatId, turnId, idempotencyKey: callKey, tools, signal } = context;
    const { environment } = tools.grants;
    if (!environment) throw new NotSent('This chat has no environment.');
    const owner = { orgId, environmentId: environment.id, callKey, rootChatId: environment.root_chat_id, of: { chatId, turnId } };
    try {
      const end = await this.commands.run(owner, wanted, signal);
      if (end.status === 'outcome_unknown')
        return failed(`${end.error ?? 'What ran it was lost.'} The command may have run in part, or as a whole.`);
      return end.status === 'cancelled' ? failed(end.error ?? 'It was cancelled.') : end;
    } catch (error) {
      if (error instanceof EnvironmentUnavailable) return failed(error.message);
      throw error;
    }
  }
}

const NO_FILE = { command: null, workdir: WORKSPACE, path: null, content: null };
const hasEnvironment = ({ environment }: Pick<ToolGrants, 'environment'>): boolean => environment !== null;

const failed = (error: string): ToolResult => toolError(error.slice(0, MAX_TOLD));

/** The first of a list of names, whole ones. */
function cut(field: string, text: string): object {
  const names = text.split('\n').filter(Boolean);
  let length = 0;
  const told = names.filter((name) => (length += JSON.stringify(name).length) <= MAX_TOLD * 2);
  return { [field]: told, left_off: names.length - told.length };
}

/** Head and tail, as many characters as JSON has room for: what a program says last is what it ends with. */
function ends(text: string): { text: string; isCut: boolean } {
  let told = text;
  for (let kept = MAX_TOLD; JSON.stringify(told).length > MAX_TOLD + 2; kept = Math.floor(kept * 0.8)) {
    const half = Math.floor(kept / 2);
    told = `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters …]\n${text.slice(-half)}`.toWellFormed();
  }
  return { text: told, isCut: told !== text };
}

function toldOf({ exit_code, stdout, stderr, timed_out, truncated, error, started_at, finished_at }: CommandEnd): ToolResult {
  if (error !== null) return failed(error);
  const [out, err] = [ends(stdout), ends(stderr)];
  const duration_ms = started_at && finished_at ? finished_at.getTime() - started_at.getTime() : null;
  return toolResult({
    exit_code,
    stdout: out.text,
    stderr: err.text,
    timed_out,
    truncated: truncated || out.isCut || err.isCut,
    duration_ms,
  });
}
