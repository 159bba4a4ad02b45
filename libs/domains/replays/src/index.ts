export { ReplayingModule, ReplaysModule } from './replays.module';
