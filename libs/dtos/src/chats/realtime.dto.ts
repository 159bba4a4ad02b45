import { DateTimeField, IntField, ListField, StringField, UuidField } from '@aps/platform/http';

/** More topics than this on one stream are refused. */
export const MAX_TOPICS = 50;
const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
/** What a client calls a topic. */
export const TOPIC = new RegExp(`^(org|(chat|run|env):${UUID}|inbox:inb_[0-9a-z]{26})$`);

export class FollowEventsQuery {
  @StringField({
    optional: true,
    max: MAX_TOPICS * 50,
    default: 'org',
    description: `Up to ${MAX_TOPICS} of \`chat:{id}\`, \`inbox:{id}\`, \`run:{id}\`, \`env:{id}\` and \`org\`, separated by commas.`,
    example: 'chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11,org',
  })
  topics?: string;
  @StringField({
    optional: true,
    max: 4_000,
    description: 'Resume after this frame id, where `Last-Event-ID` cannot be sent; it wins over this.',
  })
  after?: string;
}

export class CreateTicketRequest {
  @ListField('string', {
    min: 1,
    max: MAX_TOPICS,
    item: { max: 64, pattern: TOPIC, patternMessage: 'Input should be a topic' },
    description: 'What the stream may be about: all of these, or some.',
    example: ['chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11'],
  })
  topics: string[];
  @UuidField({
    optional: true,
    nullable: true,
    description: 'The organization whose streams it opens; without it any of the caller’s, each with the topics that are its own.',
  })
  org_id?: string | null;
}

export class TicketResponse {
  @StringField({ credential: true, description: 'For `?ticket=`, once.' }) ticket: string;
  @IntField({ description: 'Seconds until it is void.', example: 60 }) expires_in: number;
}

export class ChatViewer {
  @UuidField({ description: 'The user.' }) user_id: string;
  @StringField({ description: 'What they are called.' }) name: string;
  @StringField({ nullable: true, description: 'Their picture.' }) avatar_url: string | null;
  @DateTimeField({ description: 'When they last said that they are there.' }) last_seen_at: string;
}

export class ChatPresenceResponse {
  @ListField(() => ChatViewer, { description: 'Who else has the chat open, by name. The caller is none of them.' }) viewers: ChatViewer[];
  @IntField({ description: 'How often to call, seconds.', example: 15 }) heartbeat_interval_s: number;
  @IntField({ description: 'After so many seconds without a call a viewer is gone.', example: 45 }) expires_in_s: number;
}
