import { BooleanField, DateTimeField, EnumField, ObjectField, StringField, UuidField } from '@aps/platform/http';
import { CHANNEL_KINDS, type ChannelKind } from './values';

const CONFIG =
  'Of a webhook: JSONPaths (RFC 9535) into its payload, `sender_path`, `subject_path`, `body_path`, `dedupe_path`, `thread_path`, and how its senders sign, ' +
  '`signature {scheme, header?, secret?}` with a scheme of `none`, `standard_webhooks`, `github`, `stripe`, `slack`, `hmac_sha256_hex`. Of mail: `public`, whether its address has no code. Other keys are kept.';
const HAS_CODE = 'Whether the address of mail has the code in it: the opposite of `config.public`. Default false.';

export class CreateInboxChannelRequest {
  @EnumField(CHANNEL_KINDS, { description: 'What comes in by it.', example: 'webhook' }) kind: ChannelKind;
  @ObjectField({ optional: true, description: CONFIG, example: { subject_path: '$.title' } }) config?: Record<string, unknown>;
  @BooleanField({ optional: true, description: HAS_CODE, example: false }) has_code?: boolean;
}

export class UpdateInboxChannelRequest {
  @ObjectField({ optional: true, description: `${CONFIG} Key by key; null removes one.`, example: { dedupe_path: null } })
  config?: Record<string, unknown>;
  @BooleanField({ optional: true, description: 'One that is disabled takes nothing.', example: true }) enabled?: boolean;
  @BooleanField({ optional: true, description: HAS_CODE, example: true }) has_code?: boolean;
}

export class InboxChannelResponse {
  @UuidField({ description: 'The channel.' }) id: string;
  @StringField({ description: 'Its inbox.', example: 'inb_01jd3k5m7n9p1r3s5t7v9w1x3z' }) inbox_id: string;
  @EnumField(CHANNEL_KINDS, { description: 'What comes in by it.', example: 'webhook' }) kind: ChannelKind;
  @BooleanField({ description: 'Whether it takes anything.', example: true }) enabled: boolean;
  @ObjectField({ description: `${CONFIG} The secret is masked.`, example: { subject_path: '$.title' } }) config: Record<string, unknown>;
  @BooleanField({ nullable: true, description: 'Of mail: whether its address has the code in it.', example: false }) has_code:
    boolean | null;
  @StringField({ nullable: true, description: 'Of mail: where to write to.', example: 'orders@acme.inbound.example.com' }) address:
    string | null;
  @StringField({
    nullable: true,
    credential: true,
    description: 'Of mail: its code. Of a webhook: what its URL ends with, for administrators; null for members.',
    example: 'k7m2p9',
  })
  address_token: string | null;
  @StringField({
    nullable: true,
    credential: true,
    description: 'Of a webhook: its URL, which is all that a sender needs, for administrators; null for members.',
    example: 'https://api.example.com/api/hooks/in/…',
  })
  webhook_url: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
