import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Database } from '@aps/platform/database';
import { TurnEndings } from './turn-endings';
import { TurnRepository } from './turn.repository';

const EVERY_MS = 5_000;

/**
 * Finds what nobody told anybody: turns that nobody owns any more, and turns over the cap whose slot became free while they were being
 * parked. Runs in every worker; what it does is safe to do twice.
 */
@Injectable()
export class TurnSweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('TurnSweeper');
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly endings: TurnEndings,
    private readonly entitlements: Entitlements,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.sweep().catch((error: Error) => this.logger.warn(`Sweep failed: ${error.message}`));
    }, EVERY_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async sweep(): Promise<void> {
    await this.turns.wakeUnowned(this.db);
    for (const { org_id, running, parked } of await this.turns.parkedOrgs(this.db)) {
      const cap = (await this.entitlements.of(org_id)).max_concurrent_chats;
      const free = cap < 0 ? parked : Math.min(cap - running, parked);
      for (let i = 0; i < free; i++) await this.endings.publishTurns(await this.turns.dispatchParked(this.db, org_id));
    }
  }
}
