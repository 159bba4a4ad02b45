import { configSection, integer, setting } from '@aps/platform/config';

export const engineConfig = configSection('engine', {
  heldBytes: setting(
    'PROCESS_HELD_BYTES',
    integer(256 * 1024 * 1024, 1, 2 ** 40),
    'Bytes of memory that the journals of runs at work may take together in one process-engine, about, and their calls as much again; runs that have no room wait their turn. A quarter of its heap is a good measure',
  ),
});
