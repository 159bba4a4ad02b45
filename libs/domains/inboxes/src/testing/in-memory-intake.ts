import { randomUUID } from 'node:crypto';
import type { Channel, ChannelConfig, ChannelDirectory, Destination, IncomingMessage, Intake } from '../intake/intake.port';

/** Channels and messages in memory, for doors that are looked at alone. */
export class InMemoryIntake implements ChannelDirectory, Intake {
  readonly channels = new Map<string, Channel>();
  readonly received: (IncomingMessage & { message: string; to: Destination })[] = [];
  /** What storing fails with. */
  failure: Error | null = null;
  /** Ends when storing may. */
  gate: Promise<unknown> = Promise.resolve();

  /** @param at token or address */
  add(at: string, config: ChannelConfig = {}, secret: string | null = null): Channel {
    const isMail = at.includes('@');
    const channel: Channel = {
      ...{ org_id: randomUUID(), inbox_id: `inb_${at}`, channel_id: randomUUID(), channel_kind: isMail ? 'email' : 'webhook' },
      ...{ recipient: null, config, signature_secret: secret },
    };
    this.channels.set(at, channel);
    return channel;
  }

  reset(): void {
    this.channels.clear();
    this.received.length = 0;
    this.failure = null;
    this.gate = Promise.resolve();
  }

  byToken(token: string): Promise<Channel | null> {
    return Promise.resolve(this.channels.get(token) ?? null);
  }

  byAddress(address: string): Promise<Channel | null> {
    return Promise.resolve(this.channels.get(address) ?? null);
  }

  async receive(to: Destination, message: IncomingMessage): Promise<{ message_id: string; duplicate: boolean }> {
    await this.gate;
    if (this.failure) throw this.failure;
    const first = this.received.find(
      (other) => other.to.channel_id === to.channel_id && other.dedupe_key !== null && other.dedupe_key === message.dedupe_key,
    );
    if (first) return { message_id: first.message, duplicate: true };
    const id = randomUUID();
    this.received.push({ ...message, message: id, to });
    return { message_id: id, duplicate: false };
  }
}
