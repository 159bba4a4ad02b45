import { compileCondition, FieldIndex, type Test } from './condition.compile';
import type { MessageFacts } from './message-facts';
import { MessageView } from './message-view';
import type { ClassifierStage, MatchStage, RuleSet } from './rule-set.schema';
import { endOf, verdictOf, type StageResult, type Verdict } from './verdict.policy';

/** How the trace calls what holds where no stage has decided. */
const DEFAULT = { id: 'default', kind: 'default' } as const;

/** A classifier that has to be asked before it goes on. */
export interface Asked {
  classifier: ClassifierStage;
  /** The number of its stage. */
  index: number;
}

export interface Evaluation {
  /** In the order in which stages were run; a classifier's is made of its answer. */
  rows: Readonly<StageResult>[];
  /** All that the message has by now. */
  tags: string[];
  end: Verdict | Asked;
}

/** Compiles a rule set once for all messages. Its patterns have no problems (`patternProblems`), or it throws. */
export const compile = (ruleSet: RuleSet): CompiledRules => new CompiledRules(ruleSet);

/** A rule set as it is run: any number of messages, from any stage. It keeps nothing of them. */
export class CompiledRules {
  private readonly fields = new FieldIndex();
  private readonly stages: readonly (ClassifierStage | (MatchStage & { test: Test; noMatch: Readonly<StageResult> }))[];

  constructor(readonly ruleSet: RuleSet) {
    this.stages = ruleSet.stages.map((stage) =>
      stage.kind === 'match' ? { ...stage, test: compileCondition(stage.when, this.fields), noMatch: noMatchOf(stage) } : stage,
    );
  }

  /** The classifier of this id, if there is one. */
  classifier(id: string): ClassifierStage | undefined {
    return this.ruleSet.stages.find((stage): stage is ClassifierStage => stage.kind === 'classifier' && stage.id === id);
  }

  /**
   * Runs stages until one ends it, or is a classifier, which the caller asks ({@link afterClassifier}) before it comes back with the stage
   * behind it; behind the last one stands the default.
   *
   * @param from the number of the stage to begin with
   * @param tags what the message has by now
   */
  evaluate(facts: MessageFacts, from = 0, tags: readonly string[] = facts.tags): Evaluation {
    const message = new MessageView(facts, this.fields.readers, tags);
    const rows: Readonly<StageResult>[] = [];
    for (let index = from; index < this.stages.length; index++) {
      const stage = this.stages[index];
      if (stage.kind === 'classifier') return { rows, tags: [...message.tags], end: { classifier: stage, index } };
      if (!stage.test(message)) {
        rows.push(stage.noMatch);
        continue;
      }
      const end = endOf(stage, stage.then, message.tags);
      rows.push(end.row);
      if (end.verdict) return { rows, tags: end.tags, end: end.verdict };
      message.retag(end.tags, this.fields.placeOf('tags'));
    }
    const { row, tags: after } = endOf(DEFAULT, this.ruleSet.default, message.tags);
    return { rows: [...rows, row], tags: after, end: verdictOf(DEFAULT.id, this.ruleSet.default) };
  }
}

/** The row of a stage that does not match, the same for all messages. */
const noMatchOf = ({ id }: MatchStage): StageResult => ({ stage_id: id, kind: 'match', matched: false, outcome: 'no_match', detail: null });
