import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const rolloutsConfig = configSection('rollouts', {
  enabled: setting('AGENT_EXPERIMENTS_ENABLED', z.stringbool().default(true), 'Whether experiments between revisions may be started'),
  min_sample: setting(
    'EXPERIMENT_MIN_SAMPLE',
    z.coerce.number().int().min(1).max(100_000).default(30),
    'Chats per arm below which the results of an experiment say nothing, where it does not say otherwise',
  ),
});
