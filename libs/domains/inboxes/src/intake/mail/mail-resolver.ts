import { Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

/** Asks the DNS what senders of mail have published. */
export abstract class MailResolver {
  /** @throws Error with a `code` as `node:dns` has it */
  abstract resolve(name: string, rrtype: string): Promise<unknown[]>;
}

const TIMEOUT_MS = 2_000;

/** The system's name servers. */
@Injectable()
export class DnsMailResolver extends MailResolver {
  private readonly resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 });

  async resolve(name: string, rrtype: string): Promise<unknown[]> {
    return [await this.resolver.resolve(name, rrtype)].flat();
  }
}
