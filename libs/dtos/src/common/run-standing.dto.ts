import { DateTimeField, IntField, StringField } from '@aps/platform/http';

export class RunLease {
  @StringField({ nullable: true, description: 'The process that has the run; null when it has handed it back.' }) worker: string | null;
  @DateTimeField({ description: 'When another one may take over. Renewed every few seconds.' }) expires_at: string;
  @StringField({ description: 'Every owner has its own; what is written with an older one is refused.' }) fence: string;
}

export class RunQueue {
  @IntField({
    description: 'Runs of the same kind that were dispatched before and have not begun: of the organization, of an inbox its messages.',
  })
  position: number;
  @IntField({ description: 'How long the oldest of them has waited, in seconds.' }) oldest_ahead_s: number;
}
