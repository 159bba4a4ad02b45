import { QUEUES, type QueueName } from '@aps/contracts';
import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

const known = (name: string): name is QueueName => (QUEUES as readonly string[]).includes(name);

export const queuesConfig = configSection('queues', {
  queues: setting(
    'QUEUES',
    z
      .string()
      .optional()
      .transform((raw, ctx) => {
        if (!raw) return null;
        const names = raw.split(',').map((n) => n.trim());
        const unknown = names.filter((n) => !known(n));
        if (unknown.length)
          ctx.addIssue({ code: 'custom', message: `unknown queue ${unknown.join(', ')}; known are ${QUEUES.join(', ')}` });
        return names.filter(known);
      }),
    'Queues that this worker consumes, separated by commas. Empty: all that the app owns',
  ),
  ...(Object.fromEntries(
    QUEUES.map((name) => [
      `concurrency_${name}`,
      setting(
        `CONCURRENCY_${name.toUpperCase().replaceAll('-', '_')}`,
        z.coerce.number().int().min(1).max(10_000).optional(),
        `Jobs of the queue ${name} that one process runs at the same time`,
      ),
    ]),
  ) as Record<`concurrency_${QueueName}`, ReturnType<typeof setting<z.ZodOptional<z.ZodCoercedNumber>>>>),
});

export function concurrencyOf(queue: QueueName, fallback: number): number {
  return queuesConfig.value[`concurrency_${queue}`] ?? fallback;
}
