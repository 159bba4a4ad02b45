import { Module, type DynamicModule, type MiddlewareConsumer, type ModuleMetadata, type NestModule } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { MailDoor } from '../intake/mail/mail-door';
import { MailReader } from '../intake/mail/mail-reader';
import { DnsMailResolver, MailResolver } from '../intake/mail/mail-resolver';
import { MailHooks } from '../intake/mail/providers/mail-hooks';
import { SesProvider } from '../intake/mail/providers/ses.provider';
import { SmtpListener } from '../intake/mail/smtp-listener';
import { WebhookDoor } from '../intake/webhooks/webhook-door';
import { HooksController } from './hooks.controller';
import { WebhookMethods } from './webhook-methods.middleware';

/** The doors that messages come in by: webhooks, providers of mail, and SMTP. */
@Module({})
export class DoorsModule implements NestModule {
  /** @param ports modules that export the channels' directory and the intake */
  static over(...ports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: DoorsModule,
      imports: [EgressModule, ...ports],
      controllers: [HooksController],
      providers: [
        ...[WebhookDoor, MailDoor, MailReader, MailHooks, SesProvider, SmtpListener],
        { provide: MailResolver, useClass: DnsMailResolver },
      ],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(WebhookMethods).forRoutes('api/hooks/in/:token');
  }
}
