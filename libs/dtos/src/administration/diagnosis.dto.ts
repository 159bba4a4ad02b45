import { FINDING_ACTIONS, FINDING_KINDS, type FindingAction, type FindingKind } from '@aps/contracts';
import { BooleanField, DateTimeField, EnumField, ListField, StringField, UuidField } from '@aps/platform/http';

/** Something that keeps the organization from moving. */
export class OrgFinding {
  @EnumField(FINDING_KINDS, { name: 'OrgFindingKind', description: 'What it is.', example: 'budget' }) kind: FindingKind;
  @DateTimeField({ nullable: true, description: 'Since when; null where nobody keeps it.' }) since: string | null;

  @StringField({
    nullable: true,
    description: 'What of that kind: a model, a route, a setting, a worker, a cap.',
    example: 'budget_limit_usd',
  })
  ref: string | null;

  @StringField({
    description: 'As it can be sent to the organization.',
    example: 'Your budget of 500 US dollars for this month is used up (500.25 spent); raise it, or wait for the next month.',
  })
  sentence: string;

  @EnumField(FINDING_ACTIONS, { name: 'OrgFindingAction', description: 'What helps.', example: 'raise_budget' })
  action: FindingAction;
}

export class OrgDiagnosisResponse {
  @UuidField({ description: 'The organization.' }) org_id: string;
  @BooleanField({ description: 'Nothing is in its way.', example: false }) healthy: boolean;
  @ListField(() => OrgFinding, { description: 'What is, the most general first.' }) findings: OrgFinding[];
}
