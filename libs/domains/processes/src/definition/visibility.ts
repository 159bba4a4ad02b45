import type { Place } from '@aps/platform/definitions';
import type { Definition, LoopStep, Step, Template } from './definition.types';
import { compileExpression, ROOTS, type Root } from './expression';
import type { Path } from './paths';
import { evaluatedOf, innerOf, seenAfter, stepsOf } from './steps';
import { expressionsOf, templateProblems } from './template';

/** Compiling one takes a tenth of a millisecond, and a long one more. */
export const MAX_EXPRESSIONS = 2_000;

/** What may be named at a place. */
interface Seen {
  steps: ReadonlySet<string>;
  vars: ReadonlySet<string>;
  roots: readonly Root[];
}

type Refuse = (loc: Place, problem: string, type?: string, validValues?: readonly string[]) => void;

const STEP_ROOTS = ROOTS.filter((root) => root !== 'error');

/**
 * Tells of every expression that is none, and of every name in one that is nothing where it stands.
 *
 * A step names in `steps` what has ended before it: the steps before it in its list, and those before what holds it. What a loop or a
 * parallel holds is seen only in there; outside of it, its own output is. What a branch holds is seen after it, too, where its way was
 * taken: `has()` asks for that. `while` sees beside that what the iteration before has left of its loop's own list, which is nothing
 * before the first one. In `vars` are a loop's variables within it, and what a transform has set before, seen as far as its step is.
 */
export function checkVisibility(definition: Definition, refuse: Refuse): void {
  new VisibilityCheck(definition, refuse).check();
}

class VisibilityCheck {
  /** By the id of a step, those that hold it and keep it to themselves. */
  private readonly holders: ReadonlyMap<string, readonly string[]>;
  private left = MAX_EXPRESSIONS;

  constructor(
    private readonly definition: Definition,
    private readonly refuse: Refuse,
  ) {
    this.holders = new Map(
      stepsOf(definition).map(({ step, within }) => [step.id, within.filter(({ kind }) => kind !== 'branch').map(({ id }) => id)]),
    );
  }

  check(): void {
    const { steps, on_error, output, concurrency } = this.definition;
    const nothing: Seen = { steps: new Set(), vars: new Set(), roots: STEP_ROOTS };
    const all = this.list(steps, ['steps'], nothing, []);
    on_error.forEach((handler, i) => this.list(handler.steps, ['on_error', i, 'steps'], { ...all, roots: ROOTS }, []));
    this.template(output, ['output'], all, []);
    if (concurrency) this.template(concurrency.key, ['concurrency', 'key'], { ...nothing, roots: ['input', 'envelope'] }, []);
    if (this.left < 0) this.refuse(['steps'], `A definition should have at most ${MAX_EXPRESSIONS} expressions`);
  }

  /** What is seen after the list. */
  private list(steps: readonly Step[], loc: Place, seen: Seen, within: readonly string[]): Seen {
    return steps.reduce((before, step, i) => {
      this.step(step, [...loc, i], before, [...within, step.id]);
      return { ...before, steps: extended(before.steps, seenAfter(step)), vars: extended(before.vars, varsAfter(step)) };
    }, seen);
  }

  private step(step: Step, loc: Place, seen: Seen, within: readonly string[]): void {
    const inside = step.kind === 'loop' ? { ...seen, vars: extended(seen.vars, varsIn(step)) } : seen;
    const after = innerOf(step).map(({ field, steps }) => this.list(steps, [...loc, ...field.split('.')], inside, within));
    const { templates, conditions } = evaluatedOf(step);
    for (const { field, template } of templates) this.template(template, [...loc, field], seen, within);
    for (const { field, expression } of conditions)
      this.condition(expression, [...loc, ...field.split('.')], step.kind === 'loop' ? after[0] : seen, within);
  }

  private template(template: Template, loc: Place, seen: Seen, within: readonly string[]): void {
    const at = (path: string) => [...loc, ...(path ? path.split('.') : [])];
    const expressions = expressionsOf(template);
    this.left -= expressions.length;
    if (this.left < 0) return;
    for (const { path, problem } of templateProblems(template)) this.refuse(at(path), problem);
    for (const { path, expression } of expressions) {
      const compiled = compileExpression(expression);
      if (!('problem' in compiled)) compiled.references.forEach((named) => this.named(named, at(path), seen, within));
    }
  }

  private condition(text: string, loc: Place, seen: Seen, within: readonly string[]): void {
    this.left -= 1;
    if (this.left < 0 || !text) return;
    const compiled = compileExpression(text);
    if ('problem' in compiled) return this.refuse(loc, compiled.problem);
    if (compiled.type !== 'bool' && compiled.type !== 'dyn')
      this.refuse(loc, `A condition should be true or false; this one is of type ${compiled.type}`);
    compiled.references.forEach((named) => this.named(named, loc, seen, within));
  }

  private named([root, name]: Path, loc: Place, seen: Seen, within: readonly string[]): void {
    if (!seen.roots.includes(root as Root)) {
      const told = root === 'error' ? `'error' is known within on_error alone` : `'${root}' is not known here`;
      return this.refuse(loc, told, 'value_error', seen.roots);
    }
    if (name === undefined) return;
    if (root === 'vars' && !seen.vars.has(name))
      this.refuse(loc, `Nothing has set '${name.slice(0, 64)}' in vars here`, 'value_error', [...seen.vars]);
    if (root === 'steps' && !seen.steps.has(name)) this.refuse(loc, this.unseen(name, seen, within), 'value_error', [...seen.steps]);
  }

  private unseen(id: string, seen: Seen, within: readonly string[]): string {
    const holders = this.holders.get(id);
    if (!holders) return `There is no step '${id.slice(0, 64)}'`;
    if (within.includes(id)) return `'${id}' has not ended yet: it is what this is in`;
    const outermost = holders.find((holder) => !within.includes(holder));
    if (outermost !== undefined && seen.steps.has(outermost))
      return `'${id}' is seen within '${outermost}' alone; steps.${outermost}.output is what comes of it`;
    return `'${id}' has not ended before this: only steps before it are seen`;
  }
}

// Most steps set nothing, and a set is never changed.
const extended = (set: ReadonlySet<string>, names: readonly string[]): ReadonlySet<string> =>
  names.length ? new Set([...set, ...names]) : set;

/** The loop's own; there is no item of a `while`. */
const varsIn = (loop: LoopStep): string[] => [...(loop.while === null ? [loop.as] : []), `${loop.as}_index`];

/** What may be in `vars` after a step that was not before. */
function varsAfter(step: Step): string[] {
  if (step.kind === 'transform') return Object.keys(step.set);
  return step.kind === 'branch' ? innerOf(step).flatMap(({ steps }) => steps.flatMap(varsAfter)) : [];
}
