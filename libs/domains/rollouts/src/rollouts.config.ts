import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const rolloutsConfig = configSection('rollouts', {
  enabled: setting('AGENT_EXPERIMENTS_ENABLED', z.stringbool().default(true), 'Whether experiments between revisions may be started'),
  idle_minutes: setting(
    'EXPERIMENT_IDLE_MINUTES',
    z.coerce.number().int().min(1).max(10_080).default(30),
    'Minutes that a chat rests before it counts in the results of a rollout',
  ),
  min_sample: setting(
    'EXPERIMENT_MIN_SAMPLE',
    z.coerce.number().int().min(1).max(100_000).default(30),
    'Chats per arm below which the results of an experiment say nothing, where it does not say otherwise',
  ),
});
