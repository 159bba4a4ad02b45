import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  JsonField,
  ListField,
  NestedField,
  ObjectField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { RunLease, RunQueue } from '../common/run-standing.dto';
import { RunErrorDto } from './run.dto';
import { RUN_STATE, RUN_STATES, STEP_STATUSES, type RunState, type StepStatus } from './values';

export class SimulateProcessRevisionRequest {
  @ObjectField({ optional: true, nullable: true, description: 'What it is to be begun with. Either this or `run_id`.' })
  input?: Record<string, unknown> | null;
  @UuidField({ optional: true, nullable: true, description: 'A run of the process whose envelope and results are taken.' })
  run_id?: string | null;
}

export class SimulatedStep {
  @StringField({ description: 'Where it stands.', example: 'each/0/extract' }) path: string;
  @StringField({ description: 'What kind of step it is.', example: 'llm' }) kind: string;
  @EnumField(STEP_STATUSES, { name: 'ProcessStepStatus', description: 'What would become of it.', example: 'completed' })
  status: StepStatus;
  @EnumField(['computed', 'recorded', 'stubbed'], {
    name: 'SimulatedStepSource',
    description: 'Where its output is from: computed now, what it was in the run, or made up to fit its schema.',
  })
  source: 'computed' | 'recorded' | 'stubbed';
  @JsonField({ description: 'What it would be given.' }) input: unknown;
  @JsonField({ description: 'What it would answer.' }) output: unknown;
}

export class ProcessSimulationResponse {
  @EnumField(RUN_STATES, { name: RUN_STATE.name, description: 'What the run would end as.', example: 'completed' }) status: RunState;
  @JsonField({ description: 'What it would come to.' }) output: unknown;
  @NestedField(() => RunErrorDto, { nullable: true, description: 'Why it would fail.' }) error: RunErrorDto | null;
  @ListField(() => SimulatedStep, { description: 'In the order in which they would be begun.' }) steps: SimulatedStep[];
  @StringField({ nullable: true, description: 'The first step that goes otherwise than in the run; null where none does.' })
  diverged_at: string | null;
}

export class ReplayDivergence {
  @StringField({ description: 'The step.', example: 'route' }) path: string;
  @StringField({ description: 'What of it differs.', example: 'input' }) field: string;
  @JsonField({ description: 'What the journal has.' }) recorded: unknown;
  @JsonField({ description: 'What today’s code makes of it.' }) computed: unknown;
}

export class ReplayCheckResponse {
  @BooleanField({ description: 'Whether today’s code would do all that the journal has.' }) deterministic: boolean;
  @StringField({ description: 'The code that has looked.', example: '1' }) engine_version: string;
  @StringField({ description: 'The code that the run was begun by.', example: '1' }) run_engine_version: string;
  @IntField({ description: 'Steps that were compared.', example: 12 }) compared: number;
  @NestedField(() => ReplayDivergence, { nullable: true, description: 'The first difference; null where there is none.' })
  first_divergence: ReplayDivergence | null;
}

export class ProcessRunBlockedBy {
  @EnumField(
    [
      'human',
      'child',
      'child_run',
      'timer',
      'event',
      'concurrency',
      'outcome_unknown',
      'cap',
      'credits',
      'budget',
      'route',
      'lease',
      'org_suspended',
    ],
    {
      name: 'ProcessRunBlockedByKind',
      description:
        '`child`: the chat of an agent. `child_run`: another process. `event`: a signal. `concurrency`: other runs of its key. `outcome_unknown`: somebody must say what became of a call. `lease`: the worker has gone silent, another one takes over.',
    },
  )
  kind: string;
  @DateTimeField({ nullable: true, description: 'Since when; null of a lease that was taken from its worker until another one has it.' })
  since: string | null;
  @StringField({
    nullable: true,
    description: 'What of that kind: the request, chat, run, time, signal, key, step, worker or organization.',
  })
  ref: string | null;
}

export class ProcessRunLastStep {
  @StringField({ description: 'Where it stands.', example: 'each/0/extract' }) path: string;
  @EnumField(STEP_STATUSES, { name: 'ProcessStepStatus', description: 'What became of it.', example: 'completed' }) status: StepStatus;
  @NestedField(() => RunErrorDto, { nullable: true, description: 'Why it has failed.' }) error: RunErrorDto | null;
}

export class ProcessRunDiagnosisResponse {
  @EnumField(RUN_STATES, RUN_STATE) state: RunState;
  @NestedField(() => ProcessRunBlockedBy, {
    nullable: true,
    description: 'What keeps it from going on; null when nothing does, or there is nothing to do.',
  })
  blocked_by: ProcessRunBlockedBy | null;
  @NestedField(() => RunLease, { nullable: true, description: 'Who runs it.' }) lease: RunLease | null;
  @NestedField(() => RunQueue, {
    nullable: true,
    description: 'Where one that has not begun stands among those of the organization that wait for a slot.',
  })
  queue: RunQueue | null;
  @NestedField(() => ProcessRunLastStep, { nullable: true, description: 'The newest step that is over.' })
  last_step: ProcessRunLastStep | null;
  @EnumField(['answer', 'signal', 'wait', 'restart', 'add_credits', 'raise_budget', 'fix_route', 'unsuspend'], {
    name: 'ProcessRunNextAction',
    nullable: true,
    description: 'What would have it go on; null where nothing will, or need be done.',
  })
  next_action: string | null;
  @ListField(['cancel', 'restart', 'signal', 'answer'], { description: 'What the caller can do with it now that has an effect.' })
  allowed_actions: string[];
}
