import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { RunsModule } from '@aps/platform/runs';
import { CountKind } from '@aps/platform/runs/testing';
import { runApp } from '@aps/platform/runtime';
import { ToolCatalog } from '@aps/tools';
import { bookingTools } from '@aps/tools/testing';
import { AppModule } from '../../chat-worker/src/app.module';

/** A step takes so long at most, so that it can be hit. */
const STEP_MS = 250;

@Injectable()
class Additions implements OnModuleInit {
  constructor(
    private readonly catalog: ToolCatalog,
    private readonly kind: CountKind,
  ) {}

  onModuleInit(): void {
    const url = process.env.LEDGER_URL;
    if (url) this.catalog.register(...bookingTools({ url }, { idleMs: 60_000, totalMs: 300_000 }));
    this.kind.before = () => sleep(Math.random() * STEP_MS);
  }
}

/** The worker as it is, with a second kind of run and with tools whose other side keeps a ledger: nothing of either is known to its code. */
@Module({ imports: [AppModule, RunsModule], providers: [CountKind, Additions] })
class WorkerWithMore {}

void runApp({ name: 'chat-worker', module: WorkerWithMore, redisRequired: true });
