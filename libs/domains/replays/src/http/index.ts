export * from './replays-http.module';
