import { Injectable } from '@nestjs/common';
import { ChatStarts, CloseService, HitlService, type NewRequest } from '@aps/chats';
import { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import type { AgentStep, HumanStep, ProcessStep } from '../definition';
import { ProcessRefs } from '../revisions/process-refs';
import { refOf } from '../revisions/references';
import { Cancellation } from './cancellation';
import { ChatListener } from './chat-listener';
import { stepError, waitsForSignal, type JournalRow, type RunEvent } from './journal';
import type { Opening } from './progress';
import { MEANT, RESOLVE, TAKE_SIGNAL, UNTOLD, type LoadedRun } from './process-run.sql';
import { resolutionOf } from './run-ends';
import { RunStarter, tooDeep } from './run-starter';

/** What a human can say of a call of which nobody knows what became of it. */
export const UNKNOWN_OPTIONS = [
  { id: 'retry', label: 'Make the call again' },
  { id: 'done', label: 'It had its effect: go on' },
  { id: 'fail', label: 'Let the step fail' },
];

/** Makes what steps wait for, in the transaction that writes that they do, and ends it when they are given up. */
@Injectable()
export class Openings {
  constructor(
    private readonly chats: ChatStarts,
    private readonly closing: CloseService,
    private readonly questions: HitlService,
    private readonly processes: ProcessRefs,
    private readonly starter: RunStarter,
    private readonly cancellation: Cancellation,
    private readonly listener: ChatListener,
  ) {}

  /**
   * @returns what is told of it, the rows whose steps could not be begun, or were ended by others of them: what came of them they say, or
   *   else they are to be tried again. And whether something has come for steps that were begun before
   */
  async open(tx: Tx, run: LoadedRun, opened: Opening[]): Promise<{ told: RunEvent[]; refused: JournalRow[]; came: boolean }> {
    const told: RunEvent[] = [];
    const refused: JournalRow[] = [];
    for (const { row, step } of opened) {
      switch (step.kind) {
        case 'human':
          told.push(await this.ask(tx, run, row, step));
          break;
        case 'tool':
          told.push(await this.askWhatBecame(tx, run, row, step.tool));
          break;
        case 'agent':
          if (!(await this.beginChat(tx, run, row, step))) refused.push(row);
          break;
        case 'process':
          if (!(await this.beginRun(tx, run, row, step))) refused.push(row);
      }
    }
    const { replaced, came } = await this.hearOfReplaced(tx, run, opened);
    return { told, refused: [...refused, ...replaced], came };
  }

  /** A run that is begun may end others of its key, and those may be of steps of this run: nobody else tells it of them. */
  private async hearOfReplaced(tx: Tx, run: LoadedRun, opened: Opening[]): Promise<{ replaced: JournalRow[]; came: boolean }> {
    const replaced: JournalRow[] = [];
    let came = false;
    const steps = opened.some(({ step }) => step.kind === 'process') ? await tx.query(UNTOLD, [run.id]) : [];
    for (const { parent_step_id: id } of steps) {
      const resolution = resolutionOf({ status: 'cancelled' });
      const begun = opened.find(({ row }) => row.id === id);
      if (begun) replaced.push(Object.assign(begun.row, { resolution }));
      else came = (await tx.query(RESOLVE, [id, JSON.stringify(resolution)])).length > 0 || came;
    }
    return { replaced, came };
  }

  /** Chats and runs of steps that are given up, before the run itself is locked; see {@link closeRest}. */
  async close(tx: Tx, run: LoadedRun, closed: JournalRow[]): Promise<void> {
    const chats = closed.flatMap(({ chat_id }) => (chat_id ? [chat_id] : []));
    const runs = closed.flatMap(({ child_run_id }) => (child_run_id ? [child_run_id] : []));
    if (chats.length) await this.listener.deaf(tx, () => this.closing.endTrees(tx, OrgScope.system(run.org_id, 'process'), chats));
    if (runs.length) await this.cancellation.cancelTrees(tx, run.org_id, runs, { tellParents: false });
  }

  /** The locks of questions come after that of their run, and so does what is written of the chats. */
  async closeRest(tx: Tx, closed: JournalRow[]): Promise<void> {
    await this.listener.noteCut(tx);
    const ids = closed.flatMap(({ hitl_request_id }) => (hitl_request_id ? [hitl_request_id] : []));
    if (ids.length) await this.questions.close(tx, ids, 'cancelled', 'run_over');
  }

  /** Signals that were there before somebody waited for them. @returns whether there were any */
  async takeSignals(tx: Tx, runId: string, rows: JournalRow[]): Promise<boolean> {
    let taken = false;
    for (const row of rows.filter(waitsForSignal)) taken = (await tx.query(TAKE_SIGNAL, [runId, row.event, row.id])).length > 0 || taken;
    return taken;
  }

  private async ask(tx: Tx, run: LoadedRun, row: JournalRow, step: HumanStep): Promise<RunEvent> {
    return this.request(tx, run, row, {
      kind: step.form ? 'form' : 'approval',
      prompt: (row.input as { prompt: string }).prompt,
      ...(step.form && { schema: step.form }),
      assignees: await this.questions.assigneesOf(tx, run.org_id, step.assignees),
      ...(row.waiting_until && { expires_at: row.waiting_until }),
    });
  }

  private askWhatBecame(tx: Tx, run: LoadedRun, row: JournalRow, tool: string): Promise<RunEvent> {
    return this.request(tx, run, row, {
      kind: 'question',
      prompt: `The call of ${tool} by the step ${row.step_id} was cut off, and nobody knows whether it had its effect. Look there, and say how to go on.`,
      options: UNKNOWN_OPTIONS,
      schema: { type: 'object', properties: { output: {} } },
    });
  }

  private async request(tx: Tx, run: LoadedRun, row: JournalRow, ask: NewRequest): Promise<RunEvent> {
    const { id, event } = await this.questions.request(tx, OrgScope.system(run.org_id, 'process'), {
      ...ask,
      run_id: run.id,
      step_id: row.id,
    });
    row.hitl_request_id = id;
    return { type: 'human_requested', step_id: row.step_id, path: row.path, metadata: { kind: row.kind, ...event.data } };
  }

  private async beginChat(tx: Tx, run: LoadedRun, row: JournalRow, step: AgentStep): Promise<boolean> {
    const scope = OrgScope.system(run.org_id, 'process');
    const [{ id: agent }] = await tx.query(MEANT, [run.revision_id, refOf('agent', step.agent)]);
    const { task } = row.input as { task: string };
    const begun = agent
      ? await this.chats.start(tx, scope, {
          agent_id: agent,
          title: null,
          origin: { kind: 'process', ref_id: run.id },
          message: { content: task },
          max_steps: step.max_steps,
        })
      : { refused: 'no_agent' as const };
    const isRefused = 'refused' in begun;
    // Nothing was begun that could have failed: it waits until there is room, as whatever comes by mail does.
    const isFull = isRefused && begun.refused === 'queue_full';
    // Each is set: a transaction that is run again finds in the row what the try before it made of it.
    row.note = isFull ? 'queue_full' : null;
    row.chat_id = isRefused ? null : begun.chat_id;
    row.resolution =
      isRefused && !isFull ? { kind: 'chat', text: null, error: stepError('agent_failed', `There is no agent ${step.agent}.`) } : null;
    return !isRefused;
  }

  private async beginRun(tx: Tx, run: LoadedRun, row: JournalRow, step: ProcessStep): Promise<boolean> {
    const { input } = row.input as { input: unknown };
    const refuse = (why: string) => {
      row.child_run_id = null;
      row.resolution = { kind: 'run', output: null, error: stepError('child_failed', why) };
      return false;
    };
    const deep = tooDeep(run);
    if (deep) return refuse(deep);
    const [{ id: process }] = await tx.query(MEANT, [run.revision_id, refOf('process', step.process)]);
    const target = process && (await this.processes.deployed(tx, run.org_id, process));
    if (!target) return refuse(`There is no process ${step.process} that is deployed.`);
    const begun = await this.starter.insertOrRefusal(tx, target, {
      org_id: run.org_id,
      input: input as Record<string, unknown>,
      source: { kind: 'process', ref_id: run.id, user_id: run.user_id },
      parent: { run_id: run.id, step_id: row.id, root_run_id: run.root_run_id, depth: run.depth + 1 },
    });
    if ('refused' in begun) return refuse(begun.why);
    row.child_run_id = begun.id;
    row.resolution = null;
    return true;
  }
}
