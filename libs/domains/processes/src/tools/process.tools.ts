import { Injectable } from '@nestjs/common';
import { storable, type Db, type Tx } from '@aps/platform/database';
import {
  covers,
  defineTool,
  isCovered,
  ToolCatalog,
  toolError,
  toolResult,
  type ToolContext,
  type ToolGrants,
  type ToolResult,
} from '@aps/tools';
import { z } from 'zod';
import { RunBegins, type RunBegin } from '../engine/run-begins';
import { tooDeep } from '../engine/run-starter';
import { ABOVE, BY_ID_OR_SLUG, CALLED, RUNNABLE, SEEN, type NamedProcess } from './process.tools.sql';

/** What the scope of a process begins with; its slug follows. */
const SCOPE = 'process:';
/** Of an output, as JSON. */
const MAX_OUTPUT_CHARS = 32_000;
/** Who is granted more begins them by their slugs. */
const MAX_LISTED = 100;

const start = z.object({
  process: z.string().min(1).max(64).describe('Slug or id of the process'),
  input: z.record(z.string(), z.unknown()).default({}).describe('What it is begun with; has to fit the schema of its input'),
  label: z.string().min(1).max(200).optional().describe('What people recognize the run by'),
});
const list = z.object({});
const look = z.object({ run_id: z.uuid().describe('As `run_process` has said it') });

const slugIn = (scope: string): string[] => (scope.startsWith(SCOPE) ? [scope.slice(SCOPE.length)] : []);

/** Whether an agent may use processes at all. */
const mayRunProcesses = ({ allowed_tools }: Pick<ToolGrants, 'allowed_tools'>): boolean =>
  allowed_tools.includes('*') || allowed_tools.flatMap(slugIn).length > 0;

/** By the scope `process:{slug}` or by `*`, and not where either is denied. */
const reachesProcess = ({ allowed_tools, denied_tools }: ToolGrants, slug: string): boolean =>
  covers(allowed_tools, `${SCOPE}${slug}`) && !covers(denied_tools, `${SCOPE}${slug}`);

/** Of a call, what says which processes it may name. */
type Granted = Pick<ToolContext, 'orgId' | 'tools'>;

/** The tools by which an agent begins runs of the processes that it is granted, and sees what became of them. */
@Injectable()
export class ProcessTools {
  constructor(
    catalog: ToolCatalog,
    private readonly runs: RunBegins,
  ) {
    const shared = { scope: 'core', openedBy: 'process', availableTo: mayRunProcesses } as const;
    catalog.register(
      defineTool({
        ...{ ...shared, slug: 'list_processes', name: 'list_processes', accessLevel: 'read', parameters: list },
        description: 'Lists the processes that you may run, with the schema of what each takes.',
        run: (tx, _, context) => this.list(tx, context),
      }),
    );
    catalog.register(
      defineTool({
        ...{ ...shared, slug: 'run_process', name: 'run_process', accessLevel: 'write', parameters: start },
        description:
          'Begins a run of a process, which goes on by itself; `get_process_run` says what became of it. Everybody in the organization can see the run and its input.',
        callsCovered: (db, args, context) => this.callsCovered(db, args, context),
        run: (tx, args, context) => this.start(tx, args, context),
      }),
    );
    catalog.register(
      defineTool({
        ...{ ...shared, slug: 'get_process_run', name: 'get_process_run', accessLevel: 'read', parameters: look },
        description: 'Says how a run of a process stands, and what came of it when it is over.',
        run: (tx, args, context) => this.look(tx, args, context),
      }),
    );
  }

  private async list(tx: Tx, { orgId, tools: { grants } }: ToolContext): Promise<ToolResult> {
    const named = grants.allowed_tools.includes('*') ? null : grants.allowed_tools.flatMap(slugIn);
    const found = await tx.query(RUNNABLE, [orgId, named, MAX_LISTED]);
    return toolResult({ processes: found.filter(({ slug }) => reachesProcess(grants, slug)) });
  }

  /** Whether the steps of a process, or of one that it runs, call what agents need a recorded decision for: it would be a way around. */
  private async callsCovered(db: Db, asked: z.infer<typeof start>, context: Granted): Promise<boolean> {
    const process = await this.granted(db, context, storable(asked.process));
    const called = process ? await db.query(CALLED, [context.orgId, process.id]) : [];
    return called.some(({ decision_mode, access_level, hints }) => isCovered(decision_mode, { accessLevel: access_level, hints }));
  }

  private async start(tx: Tx, asked: z.infer<typeof start>, context: ToolContext): Promise<ToolResult> {
    const { process: ref, input, label } = storable(asked);
    const process = await this.granted(tx, context, ref);
    if (!process) return toolError(`There is no process ${ref} that you may run.`);
    const [above] = await tx.query(ABOVE, [context.chatId]);
    const deep = above && tooDeep(above);
    if (deep) return toolError(deep);
    const begin: RunBegin = {
      source: { kind: 'agent', ref_id: context.chatId, user_id: context.principalId },
      ...{ input, message: null, attachments: [], label: label ?? null, within: above },
    };
    const begun = await this.runs.begin(tx, context.orgId, process.id, begin);
    return 'refused' in begun ? toolError(begun.why) : toolResult({ run_id: begun.run_id, process: process.slug, status: 'started' });
  }

  private async look(tx: Tx, { run_id }: z.infer<typeof look>, { orgId, tools: { grants } }: ToolContext): Promise<ToolResult> {
    const [run] = await tx.query(SEEN, [orgId, run_id]);
    // Whether it is there is nobody's business who may not use its process.
    if (!run || !reachesProcess(grants, run.slug)) return toolError(`There is no run ${run_id} that you may see.`);
    const { id, slug, state, output, error, flag_reason } = run;
    const text = JSON.stringify(output);
    const came = text.length > MAX_OUTPUT_CHARS ? { output_begins: text.slice(0, MAX_OUTPUT_CHARS) } : { output };
    return toolResult({ run_id: id, process: slug, status: state, ...came, ...(error && { error }), ...(flag_reason && { flag_reason }) });
  }

  private async granted(db: Db, { orgId, tools: { grants } }: Granted, ref: string): Promise<NamedProcess | null> {
    const [process] = await db.query(BY_ID_OR_SLUG, [orgId, ref]);
    return process && reachesProcess(grants, process.slug) ? process : null;
  }
}
