export * from './mail.config';
export * from './mail.jobs';
export * from './mail.module';
export { Mailer, type Mail } from './mailer';
export { MailError, MailTransport, messageIdOf } from './transport';
