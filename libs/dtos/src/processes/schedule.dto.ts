import { IntersectionType, PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IdField,
  NestedField,
  ObjectField,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { HANDLER_KINDS, type HandlerKind } from '../inboxes/values';
import { SCHEDULE_CATCH_UPS, SCHEDULE_OVERLAPS, type ScheduleCatchUp, type ScheduleOverlap } from './values';

/** What must be said of a schedule. */
class ScheduleBasics {
  @StringField({
    min: 1,
    max: 200,
    description: 'What people call it; runs and chats that it begins are called so, too.',
    example: 'Morning report',
  })
  name: string;
  @EnumField(HANDLER_KINDS, { description: 'Whether it begins a chat of an agent, or a run of a process.', example: 'process' })
  target_kind: HandlerKind;
  @IdField({
    max: 64,
    description: 'Id of that agent or process. Nothing need be deployed of a process yet.',
    example: 'prc_01jd3k5m7n9p1r3s5t7v9w1x3z',
  })
  target_id: string;
  @StringField({
    max: 200,
    description:
      'When it fires: minute, hour, day of the month, month, day of the week; with both days given, either will do. Lists, ranges, steps and English names of three letters.',
    example: '0 6 * * MON-FRI',
  })
  cron: string;
  @StringField({ max: 64, description: 'The IANA time zone in which the cron is read.', example: 'Europe/Berlin' }) timezone: string;
}

/** What else can be said of it. */
class ScheduleOptions {
  @ObjectField({
    description:
      'What it begins with. Of a process: its input, which is checked by the deployed `input_schema` here, and again with each firing. Of an agent: `{"content": "…"}`, the first message of each chat. Default {}.',
    example: { region: 'north' },
  })
  payload: Record<string, unknown>;
  @BooleanField({ description: 'Whether it fires. Default true.', example: true }) enabled: boolean;
  @EnumField(SCHEDULE_OVERLAPS, {
    name: 'ScheduleOverlap',
    description:
      'When the last run or chat that it has begun is not over: `skip` (default) leaves the firing out, and `last_run` as it is; `queue` begins it then, one at most; `allow` begins it at once.',
    example: 'skip',
  })
  overlap: ScheduleOverlap;
  @EnumField(SCHEDULE_CATCH_UPS, {
    name: 'ScheduleCatchUp',
    description:
      'What follows when it could not fire for more than a minute, the organization being suspended or the service down: `none` (default) goes on with the next time to come, `one` fires once for all that were missed.',
    example: 'none',
  })
  catch_up: ScheduleCatchUp;
}

export class CreateScheduleRequest extends IntersectionType(ScheduleBasics, PartialType(ScheduleOptions, { skipNullProperties: false })) {}

export class UpdateScheduleRequest extends PartialType(IntersectionType(ScheduleBasics, ScheduleOptions), { skipNullProperties: false }) {}

export class ScheduleListQuery extends PageQuery {
  @EnumField(HANDLER_KINDS, { optional: true, description: 'Only schedules of agents, or of processes.' }) target_kind?: HandlerKind;
  @IdField({ optional: true, max: 64, description: 'Only schedules of this agent or process.' }) target_id?: string;
}

export class ScheduleLastRun {
  @UuidField({ nullable: true, description: 'The run or the chat. Null where none could be begun.' }) id: string | null;
  @DateTimeField({ description: 'When it fired.' }) at: string;
  @StringField({
    description:
      'What the run or the chat is now, as that says itself; `DELETED` of a chat that is gone. Where none could be begun: `refused:` and the error code that says why, or `refused:target_deleted`, which has also disabled the schedule.',
    example: 'completed',
  })
  status: string;
}

export class ScheduleResponse extends IntersectionType(ScheduleBasics, ScheduleOptions) {
  @UuidField({ description: 'The schedule.' }) id: string;
  @DateTimeField({ nullable: true, description: 'When it fires next. Null while it is disabled.' }) next_run_at: string | null;
  @NestedField(() => ScheduleLastRun, { nullable: true, description: 'The last firing that was not left out. Null before the first.' })
  last_run: ScheduleLastRun | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
