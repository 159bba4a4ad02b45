import { TOKEN_AREAS } from '@aps/contracts';
import { DateTimeField, IntField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { NameField } from './names';

const ONE_SCOPE = `(${TOKEN_AREAS.join('|')}):(read|write)`;
const SCOPE = new RegExp(`^(\\*|${ONE_SCOPE}( ${ONE_SCOPE})*)$`);

export class CreateTokenRequest {
  @NameField({ description: 'What the token is for.', example: 'Nightly export' }) name: string;

  @StringField({ optional: true, nullable: true, max: 2000, description: 'More about it.', example: 'Runs on the reporting server.' })
  description?: string | null;

  @StringField({
    optional: true,
    default: '*',
    max: 1000,
    pattern: SCOPE,
    patternMessage: `Scope should be * or areas with :read or :write, separated by single spaces; the areas are ${TOKEN_AREAS.join(', ')}`,
    description:
      'What the token may do: `*`, or `<area>:read` and `<area>:write` separated by spaces. `write` includes `read`. Never more than its user may.',
    example: 'agents:read chats:write',
  })
  scope?: string;

  @IntField({ optional: true, nullable: true, min: 1, max: 3650, description: 'Days until it expires. Omitted: never.', example: 90 })
  expires_in_days?: number | null;

  @UuidField({ optional: true, nullable: true, description: 'The only organization that the token is good for. Omitted: all of its user.' })
  org_id?: string | null;
}

export class TokenInfo {
  @UuidField({ description: 'The token.' }) id: string;
  @StringField({ description: 'What it is for.', example: 'Nightly export' }) name: string;
  @StringField({ nullable: true, description: 'More about it.', example: 'Runs on the reporting server.' }) description: string | null;
  @StringField({ description: 'What it may do.', example: 'agents:read chats:write' }) scope: string;
  @UuidField({ nullable: true, description: 'The only organization that it is good for; null = all of its user.' }) org_id: string | null;
  @StringField({ description: 'How it begins.', example: 'apt_3kTz' }) prefix: string;
  @StringField({ description: 'How it ends.', example: '0mQx' }) last4: string;
  @DateTimeField({ nullable: true, description: 'Last use, to within five minutes.' }) last_used_at: string | null;

  @DateTimeField({ nullable: true, description: 'When it expires; null = never.', example: '2027-02-18T09:30:00.000Z' })
  expires_at: string | null;

  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'The same: a token cannot be changed.' }) updated_at: string;
}

export class CreateTokenResponse {
  @NestedField(() => TokenInfo, { description: 'The token as it is listed.' }) token_info: TokenInfo;

  @StringField({
    credential: true,
    nullable: true,
    description: 'The token itself. Shown this once; null in a repeat by `Idempotency-Key`.',
    example: 'apt_3kTzV0fQn8wLr5Xb2YcHs7MdJg4PaEu1_0K0mQx',
  })
  token: string | null;
}
