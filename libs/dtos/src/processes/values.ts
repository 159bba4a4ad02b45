export const PROCESS_REVISION_STATUSES = ['draft', 'deployed', 'archived'] as const;
export const RUN_STATES = ['queued', 'running', 'waiting_human', 'completed', 'flagged', 'failed', 'cancelled'] as const;
export const RUN_SOURCES = ['api', 'inbox', 'agent', 'process', 'schedule', 'restart'] as const;
export const STEP_STATUSES = ['running', 'waiting', 'completed', 'failed', 'skipped', 'cancelled', 'outcome_unknown'] as const;
export const CALL_STATUSES = ['succeeded', 'failed'] as const;
export const SCHEDULE_OVERLAPS = ['skip', 'queue', 'allow'] as const;
export const SCHEDULE_CATCH_UPS = ['none', 'one'] as const;

export type ProcessRevisionStatus = (typeof PROCESS_REVISION_STATUSES)[number];
export type RunState = (typeof RUN_STATES)[number];
export type RunSource = (typeof RUN_SOURCES)[number];
export type StepStatus = (typeof STEP_STATUSES)[number];
export type CallStatus = (typeof CALL_STATUSES)[number];
export type ScheduleOverlap = (typeof SCHEDULE_OVERLAPS)[number];
export type ScheduleCatchUp = (typeof SCHEDULE_CATCH_UPS)[number];

/** Name and description of the fields that say what a run is. */
export const RUN_STATE = {
  name: 'ProcessRunStatus',
  description: 'What the run is. One that waits for a time, an event or another run is `running`.',
  example: 'completed',
};
/** Of fields of money. */
export const DOLLARS = 'Null where it is not known, and where the organization pays in credits.';
/** Of fields that name a step. */
export const STEP_ID = { description: 'The step, as the definition names it.', example: 'extract' };
