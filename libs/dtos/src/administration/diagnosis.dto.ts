import { BooleanField, DateTimeField, EnumField, ListField, StringField, UuidField } from '@aps/platform/http';

const KIND_VALUES = ['suspended', 'budget', 'credits', 'cap', 'queue', 'route', 'key_unreadable', 'worker'] as const;
const ACTION_VALUES = [
  'unsuspend',
  'raise_budget',
  'add_credits',
  'wait_or_raise_cap',
  'scale_workers',
  'check_workers',
  'fix_route',
  'store_key',
] as const;

/** Something that keeps the organization from moving. */
export class OrgFinding {
  @EnumField(KIND_VALUES, { name: 'OrgFindingKind', description: 'What it is.', example: 'budget' }) kind: (typeof KIND_VALUES)[number];
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

  @EnumField(ACTION_VALUES, { name: 'OrgFindingAction', description: 'What helps.', example: 'raise_budget' })
  action: (typeof ACTION_VALUES)[number];
}

export class OrgDiagnosisResponse {
  @UuidField({ description: 'The organization.' }) org_id: string;
  @BooleanField({ description: 'Nothing is in its way.', example: false }) healthy: boolean;
  @ListField(() => OrgFinding, { description: 'What is, the most general first.' }) findings: OrgFinding[];
}
