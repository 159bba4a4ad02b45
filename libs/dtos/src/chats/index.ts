export * from './chat.dtos';
