import { Global, Module } from '@nestjs/common';
import { MailJobs } from './mail.jobs';
import { Mailer } from './mailer';
import { MailTransport } from './transport';

/** Lets an application send mail. Needs the crypto and outbox rooms. */
@Global()
@Module({ providers: [Mailer], exports: [Mailer] })
export class MailModule {}

/** For the worker of the queue that carries `mail.send`. */
@Module({ providers: [MailJobs, MailTransport], exports: [MailJobs] })
export class MailJobsModule {}
