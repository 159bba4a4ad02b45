import { BooleanField, DateTimeField, EnumField, ListField, PageQuery, StringField, UuidField } from '@aps/platform/http';

export class UserStatusResponse {
  @UuidField({ description: 'The user.' }) user_id: string;
  @StringField({ description: 'Their address.', example: 'ada@example.com' }) email: string;
  @BooleanField({ description: 'False while the user is deactivated: no session, no API token works.', example: false }) active: boolean;
  @DateTimeField({ nullable: true, description: 'Since when the user is deactivated.' }) deactivated_at: string | null;

  @ListField('uuid', { description: 'Organizations that have no other owner. A fact to act on, not an obstacle.' })
  sole_owner_org_ids: string[];
}

/** States of a request for access. */
export const WAITLIST_STATUS_VALUES = ['pending', 'admitted', 'dismissed', 'registered'] as const;

export class WaitlistQuery extends PageQuery {
  @EnumField(WAITLIST_STATUS_VALUES, { name: 'WaitlistStatus', optional: true, description: 'Only entries in this state.' })
  status?: (typeof WAITLIST_STATUS_VALUES)[number];
}

export class WaitlistEntryResponse {
  @UuidField({ description: 'The entry.' }) id: string;
  @StringField({ description: 'Address of whoever asked.', example: 'grace@example.com' }) email: string;
  @StringField({ nullable: true, description: 'Their name, when they gave one.', example: 'Grace Hopper' }) name: string | null;

  @StringField({ nullable: true, description: 'What they wrote.', example: 'We would like to automate our support inbox.' })
  note: string | null;

  @EnumField(WAITLIST_STATUS_VALUES, { name: 'WaitlistStatus', description: 'Where the request stands.', example: 'pending' })
  status: (typeof WAITLIST_STATUS_VALUES)[number];

  @DateTimeField({ description: 'When they asked last.' }) asked_at: string;
  @DateTimeField({ nullable: true, description: 'When they were let in.' }) admitted_at: string | null;
  @DateTimeField({ nullable: true, description: 'When the request was put aside.' }) dismissed_at: string | null;
  @DateTimeField({ nullable: true, description: 'When the admission mail was handed over last.' }) last_mailed_at: string | null;
}
