export * from './mails';
export * from './people';
