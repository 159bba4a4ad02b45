import { Injectable } from '@nestjs/common';
import { envTopic, orgTopic } from '@aps/contracts';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import { GIVE_UP_VALIDATIONS, GONE_SILENT, TELL } from './environments.sql';

/** Tells readers how environments stand: those of the environment, and those of its organization. */
@Injectable()
export class EnvironmentLog {
  constructor(
    private readonly db: Database,
    private readonly realtime: RealtimePublisher,
  ) {}

  /** Best the last of its transaction, since others wait for it. Readers learn of it after the commit. */
  async tell(tx: Tx, id: string): Promise<void> {
    const at = this.db.now();
    for (const { org_id, before, org_before, data } of await tx.query(TELL, [id, at])) {
      const event = { type: 'environment_updated' as const, at: at.toISOString(), data };
      tx.afterCommit(() => {
        this.realtime.publish(envTopic(id), [{ id: before + 1, ...event }]);
        this.realtime.publish(orgTopic(org_id), [{ id: org_before + 1, ...event }]);
      });
    }
  }

  /** Ends validations of images whose job was given up. @returns how many */
  giveUpValidations(most: number): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const left = await tx.query(GIVE_UP_VALIDATIONS, [most, this.db.now().toISOString()]);
      for (const { id } of left) await this.tell(tx, id);
      return left.length;
    });
  }

  /** Tells of machines that were not heard of any more. @returns how many */
  tellSilent(most: number): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const gone = await tx.query(GONE_SILENT, [most]);
      for (const { id } of gone) await this.tell(tx, id);
      return gone.length;
    });
  }
}
