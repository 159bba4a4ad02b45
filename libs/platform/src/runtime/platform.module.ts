import { DynamicModule, Global, Module } from '@nestjs/common';
import { AuditModule } from '@aps/platform/audit';
import { BroadcastModule } from '@aps/platform/broadcast';
import { CryptoModule } from '@aps/platform/crypto';
import { DatabaseModule, type SchemaSources } from '@aps/platform/database';
import { OutboxModule } from '@aps/platform/outbox';
import { RealtimePublishModule } from '@aps/platform/realtime';
import { RedisModule } from '@aps/platform/redis';
import { ProcessIdentity } from './process-identity';
import { Readiness } from './readiness';

/** What every deployable stands on. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(appName: string, schema: SchemaSources): DynamicModule {
    return {
      module: PlatformModule,
      imports: [
        DatabaseModule.forRoot(schema, `aps-${appName}`),
        RedisModule,
        OutboxModule,
        BroadcastModule,
        RealtimePublishModule,
        AuditModule,
        CryptoModule,
      ],
      providers: [Readiness, { provide: ProcessIdentity, useFactory: () => new ProcessIdentity(appName) }],
      exports: [Readiness, ProcessIdentity],
    };
  }
}
