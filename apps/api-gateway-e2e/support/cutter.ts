import net, { type AddressInfo } from 'node:net';
import type { Chance } from '@aps/platform/testing';

/** Most that it waits for; a message is mostly stored by then, and not always. */
const MAX_MS = 40;

/** Stands before a door: what a sender says goes through, and then it is cut off, before it hears whether that was taken. */
export class Cutter {
  /** Connections whose message had come to its end. */
  cut = 0;
  private readonly server: net.Server;

  private constructor(upstream: number, chance: Chance) {
    this.server = net.createServer((sender) => {
      const door = net.connect(upstream, '127.0.0.1');
      const end = () => [sender, door].forEach((socket) => socket.destroy());
      let said = '';
      let isSent = false;
      const cut = () => {
        if (!sender.destroyed) this.cut++;
        end();
      };
      for (const socket of [sender, door]) socket.on('error', end).on('close', end);
      sender.on('data', (chunk) => {
        door.write(chunk);
        said += chunk.toString('latin1');
        if (isSent || !isWhole(said)) return;
        isSent = true;
        setTimeout(cut, chance.between(0, MAX_MS));
      });
      door.on('data', (chunk) => (isSent ? cut() : sender.write(chunk)));
    });
  }

  /** @param upstream the port of the door */
  static async before(upstream: number, chance: Chance): Promise<Cutter> {
    const cutter = new Cutter(upstream, chance);
    await new Promise<void>((listening) => cutter.server.listen(0, '127.0.0.1', listening));
    return cutter;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
  }
}

/** Whether a mail, or a request, has come to its end. */
function isWhole(said: string): boolean {
  const body = said.indexOf('\r\n\r\n') + 4;
  const length = /^content-length: (\d+)\r$/im.exec(said.slice(0, body))?.[1];
  return length && body > 3 ? said.length - body >= Number(length) : said.endsWith('\r\n.\r\n');
}
