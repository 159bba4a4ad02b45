import { BooleanField, EnumField, ListField, StringField } from '@aps/platform/http';

export class InboxHookResponse {
  @StringField({ optional: true, description: 'The message. Of a repeat, the one that came first.' }) message_id?: string;

  @EnumField(['received'], { optional: true, name: 'InboxHookStatus', description: 'It is stored, and evaluated next.' })
  status?: 'received';

  @BooleanField({ optional: true, description: 'It has come before; nothing was stored.' }) duplicate?: boolean;
  @StringField({ optional: true, description: 'What a provider wants to hear again before it delivers.' }) challenge?: string;
}

export class InboxMailTaken {
  @StringField({
    description: 'Whom it was for: the first of the addresses of its channel, in lower case.',
    example: 'support@acme.inbound.example',
  })
  recipient: string;
  @StringField({ description: 'The message. Of a repeat, the one that came first.' }) message_id: string;
}

export class InboxMailRejected {
  @StringField({ description: 'Whom it was for, as it was written.', example: 'nobody@acme.inbound.example' }) recipient: string;
  @EnumField(['unknown_recipient'], { name: 'InboxMailRejection', description: 'No channel has the address, or takes mail at present.' })
  code: 'unknown_recipient';
}

export class InboxMailHookResponse {
  @ListField(() => InboxMailTaken, { description: 'One for each channel that has taken it.' }) messages: InboxMailTaken[];
  @ListField(() => InboxMailRejected, { description: 'Recipients that are none here.' }) rejected: InboxMailRejected[];
}
