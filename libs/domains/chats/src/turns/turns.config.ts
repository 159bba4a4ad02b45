import { configSection, integer, setting } from '@aps/platform/config';

export const turnsConfig = configSection('turns', {
  senders: setting(
    'TURN_SENDERS',
    integer(16, 1, 10_000),
    'Processes (gateways, workers, engines, intakes) that may run at once: no organization passes max_queue_depth with up to so many. A larger number has organizations count under a lock sooner',
  ),
});
