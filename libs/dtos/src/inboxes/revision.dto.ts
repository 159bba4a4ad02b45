import {
  BooleanField,
  DateTimeField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import {
  HANDLER_KINDS,
  MESSAGE_STATES,
  REVISION_STATUSES,
  VERDICTS,
  type HandlerKind,
  type MessageState,
  type RevisionStatus,
  type Verdict,
} from './values';

const DEFINITION = {
  description:
    'The rule set: `stages` that a message passes one after another, each a `match` with conditions or a `classifier` that a model answers, `gates` before them, and a `default` where no stage decides.',
  example: {
    schema_version: 1,
    default: { action: 'accept' },
    stages: [
      {
        id: 'vip',
        kind: 'match',
        when: { field: 'sender.domain', op: 'domain_in', value: ['acme.com'] },
        then: { action: 'accept', tags: ['vip'] },
      },
    ],
  },
};

export class PushInboxRevisionRequest {
  @ObjectField(DEFINITION) definition: Record<string, unknown>;
}

export class InboxRevisionResponse {
  @UuidField({ description: 'The revision.' }) id: string;
  @StringField({ description: 'Its inbox.', example: 'inb_01jd3k5m7n9p1r3s5t7v9w1x3z' }) inbox_id: string;
  @IntField({ description: '1, 2, 3 … within the inbox; one that was discarded leaves a gap.', example: 3 }) version: number;
  @EnumField(REVISION_STATUSES, {
    description: 'A draft can be changed; one is deployed; those that were are archived; drafts that a newer one overtook are superseded.',
    example: 'deployed',
  })
  status: RevisionStatus;
  @StringField({
    description: 'SHA-256 of the definition as canonical JSON (RFC 8785), in hex.',
    example: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  })
  hash: string;
  @ObjectField(DEFINITION) definition: Record<string, unknown>;
  @UuidField({ nullable: true, description: 'Who pushed it first.' }) created_by: string | null;
  @UuidField({ nullable: true, description: 'Who deployed it last.' }) deployed_by: string | null;
  @DateTimeField({ nullable: true, description: 'When it was deployed last.' }) deployed_at: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export class DeployInboxRevisionResponse {
  @NestedField(() => InboxRevisionResponse, { description: 'What is deployed now.' }) revision: InboxRevisionResponse;
  @UuidField({ nullable: true, description: 'What was deployed until now; null where nothing was, or nothing has changed.' })
  previous_revision_id: string | null;
  @ListField('uuid', { description: 'Older drafts, which it has overtaken.' }) superseded_revision_ids: string[];
}

export class SimulateInboxRevisionRequest {
  @IntField({ optional: true, min: 1, max: 720, default: 24, description: 'Messages of so many hours.', example: 24 })
  within_hours?: number;
  @IntField({ optional: true, min: 1, max: 1_000, default: 200, description: 'So many of them, newest first.', example: 200 })
  limit?: number;
}

export class SimulatedTarget {
  @EnumField(HANDLER_KINDS, { description: 'What gets it.', example: 'agent' }) kind: HandlerKind;
  @StringField({ description: 'Id of that agent or process.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11' }) id: string;
}

export class SimulatedOutcome {
  @EnumField(VERDICTS, { nullable: true, description: 'Null where it cannot be said without asking a model.', example: 'accepted' })
  verdict: Verdict | null;
  @EnumField(MESSAGE_STATES, { nullable: true, description: 'What it leaves the message as.', example: 'accepted' })
  state: MessageState | null;
  @StringField({ nullable: true, description: 'The stage or gate that decides, or `default`.', example: 'vip' }) decided_by: string | null;
  @NestedField(() => SimulatedTarget, { nullable: true, description: 'Who gets it; null for the inbox’s default handler.' })
  target: SimulatedTarget | null;
  @EnumField(['classifier'], { nullable: true, description: 'What would have to be asked first.' }) needs: 'classifier' | null;
}

export class SimulatedMessage {
  @UuidField({ description: 'The message.' }) message_id: string;
  @NestedField(() => SimulatedOutcome, { description: 'What becomes of it by the rules that are live.' }) before: SimulatedOutcome;
  @NestedField(() => SimulatedOutcome, { description: 'What would become of it by this revision.' }) after: SimulatedOutcome;
  @BooleanField({ description: 'Whether verdict, state or target differ; false where one of them cannot be said.', example: true })
  changed: boolean;
}

export class SimulatedClassifiers {
  @IntField({ description: 'Answers of classifiers that are known from when the messages came.', example: 40 }) recorded: number;
  @IntField({ description: 'Messages for which a classifier would have to be asked.', example: 2 }) missing: number;
  @DecimalString({
    nullable: true,
    description:
      'What asking them may cost at most, one call each. Null where the organization pays in no credits, or no model can be called.',
    example: '0.4',
  })
  estimated_credits: string | null;
}

export class InboxSimulationResponse {
  @UuidField({ description: 'The revision that was tried.' }) revision_id: string;
  @UuidField({ nullable: true, description: 'The live one; null where there is none, and everything is accepted.' })
  compared_with: string | null;
  @IntField({ description: 'Messages that were looked at.', example: 43 }) total: number;
  @IntField({ description: 'Of these, those that would end otherwise.', example: 3 }) changed: number;
  @IntField({ description: 'Messages that were left out: what they say is not kept any more.', example: 0 }) skipped_expired: number;
  @BooleanField({ description: 'Whether it took so long that older messages were left out. Ask for fewer.', example: false })
  truncated: boolean;
  @NestedField(() => SimulatedClassifiers, { description: 'What is known of classifiers.' }) classifier: SimulatedClassifiers;
  @ListField(() => SimulatedMessage, { description: 'Each message, newest first.' }) items: SimulatedMessage[];
}
