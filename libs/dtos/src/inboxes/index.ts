export * from './channel.dto';
export * from './hooks.dto';
export * from './inbox.dto';
export * from './message.dto';
export * from './message-diagnosis.dto';
export * from './revision.dto';
