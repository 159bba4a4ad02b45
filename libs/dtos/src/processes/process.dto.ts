import { OmitType, PickType } from '@nestjs/swagger';
import { DateTimeField, EnumField, IntField, NestedField, PageQuery, StringField, UuidField } from '@aps/platform/http';
import { IdOrNone } from '../common';
import { RUN_STATE, RUN_STATES, type RunState } from './values';

const PROCESS_ID = { description: 'The process.', example: 'prc_01jd3k5m7n9p1r3s5t7v9w1x3z' };

/** What can be set of a process. */
class ProcessSettings {
  @StringField({ min: 1, max: 200, description: 'What it is called; it stays.', example: 'Invoice intake' }) name: string;
  @StringField({ min: 1, max: 200, description: 'One line that says what it does.', example: 'Books invoices' }) title: string;
  @StringField({ nullable: true, max: 2_000, description: 'What it is for.', example: 'Reads an invoice, and asks who is unsure.' })
  description: string | null;
}

export class CreateProcessRequest extends OmitType(ProcessSettings, ['description']) {
  @StringField({ optional: true, nullable: true, max: 2_000, description: 'What it is for.', example: 'Reads an invoice.' })
  description?: string | null;
}

/** The description must be there, and may be null. */
export class UpdateProcessRequest extends PickType(ProcessSettings, ['description']) {
  @StringField({ optional: true, min: 1, max: 200, description: 'One line that says what it does.', example: 'Books invoices' })
  title?: string;
}

export class ProcessListQuery extends PageQuery {
  @IdOrNone('Only processes of this project, or `none`.') project_id?: string;
}

export class ProcessRevisionSummary {
  @UuidField({ description: 'The revision.' }) id: string;
  @IntField({ description: '1, 2, 3 … within the process.', example: 3 }) version: number;
  @DateTimeField({ nullable: true, description: 'When it was deployed last.' }) deployed_at: string | null;
}

export class ProcessRunSummary {
  @UuidField({ description: 'The run.' }) id: string;
  @EnumField(RUN_STATES, RUN_STATE) status: RunState;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
}

export class ProcessResponse extends ProcessSettings {
  @StringField(PROCESS_ID) id: string;
  @StringField({ description: 'Names it in definitions and tool scopes; made from its name.', example: 'invoice-intake' }) slug: string;
  @UuidField({ nullable: true, description: 'The project it belongs to.' }) project_id: string | null;
  @StringField({
    nullable: true,
    description:
      'What has changed around it since its revision was deployed: a word for that, a colon, and what the definition names. It runs still.',
    example: 'agent_deleted:researcher',
  })
  stale_reason: string | null;
  @NestedField(() => ProcessRevisionSummary, { nullable: true, description: 'The revision that is deployed.' })
  current_revision: ProcessRevisionSummary | null;
  @NestedField(() => ProcessRunSummary, { nullable: true, description: 'The newest run.' }) last_run: ProcessRunSummary | null;
  @UuidField({ nullable: true, description: 'Who made it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
