import { z } from 'zod';

/** Code points of a text that a call answers at most. */
export const MAX_READ = 30_000;

/** Parameters of a tool that reads a part of a text. */
export const partToRead = {
  from: z.number().int().min(0).default(0).describe('Where to begin, in characters'),
  to: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe(`Where to end, exclusive; at most ${MAX_READ} characters are answered, and it says where it ended`),
};

/** Of what is found or read, characters of JSON: what is longer by that and all around it would be cut where it is none any more. */
const MAX_TOLD = 45_000;

/**
 * As many of the first as there is room for in a result.
 *
 * @param around characters of the JSON of each that are not there when they stand together
 * @param besides characters of JSON that stand in the same result
 */
export function fitting<T>(parts: T[], around = 0, besides = 0): T[] {
  let room = MAX_TOLD - besides;
  const end = parts.findIndex((part) => (room -= JSON.stringify(part).length - around) < 0);
  return end < 0 ? parts : parts.slice(0, end);
}
