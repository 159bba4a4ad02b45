import { EmailField, StringField } from '@aps/platform/http';

export class JoinWaitlistRequest {
  @EmailField({ description: 'The address that wants in.', example: 'grace@example.com' }) email: string;
  @StringField({ optional: true, nullable: true, max: 200, description: 'Who asks.', example: 'Grace Hopper' }) name?: string | null;

  @StringField({
    optional: true,
    nullable: true,
    max: 2000,
    description: 'What for.',
    example: 'We would like to automate our support inbox.',
  })
  note?: string | null;
}
