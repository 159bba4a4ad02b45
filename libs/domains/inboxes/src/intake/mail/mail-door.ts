import { Injectable } from '@nestjs/common';
import { canonicalEmail } from '@aps/platform/email';
import { placeOf } from '../../channels/addresses.policy';
import { ChannelDirectory, Intake, type Channel } from '../intake.port';
import { MailReader } from './mail-reader';
import type { MailEnvelope } from './mail.types';
import { messageOf } from './message.policy';

/** Bytes of a mail, as they come. */
export const MAX_MAIL_BYTES = 26_214_400;
/** Recipients of a mail. */
export const MAX_RECIPIENTS = 100;

/** A message that a mail has become. */
export interface TakenMail {
  recipient: string;
  message_id: string;
  duplicate: boolean;
}

/** Takes mails in, whichever door they come by. */
@Injectable()
export class MailDoor {
  constructor(
    private readonly channels: ChannelDirectory,
    private readonly intake: Intake,
    private readonly reader: MailReader,
  ) {}

  /** @returns null where nobody here takes mail for the address; `recipient` of a channel is the address */
  async channelFor(recipient: string): Promise<Channel | null> {
    const address = canonicalEmail(recipient);
    if (!address || !placeOf(address)) return null;
    const channel = await this.channels.byAddress(address.replace(/\+[^@]*/, ''));
    return channel && { ...channel, recipient: address };
  }

  /** One message for each channel, all of them stored when it returns. A channel that is named twice has one. */
  async receive(raw: Buffer, envelope: MailEnvelope, channels: readonly Channel[]): Promise<TakenMail[]> {
    const message = messageOf(await this.reader.read(raw, envelope), raw, envelope);
    const taken: TakenMail[] = [];
    for (const channel of channels) {
      const { channel_id, recipient } = channel;
      // The first of its addresses is whom a channel has it for.
      if (channels.find((each) => each.channel_id === channel_id) !== channel) continue;
      taken.push({ recipient: recipient!, ...(await this.intake.receive(channel, message)) });
    }
    return taken;
  }
}
