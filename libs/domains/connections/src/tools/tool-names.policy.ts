import { createHash } from 'node:crypto';
import { TOOL_NAME } from '@aps/tools';

/** What models may call a tool is no longer than this. */
const MAX_NAME = 64;
const HASH_CHARACTERS = 8;

/** How a tool is granted, denied and recorded: the connection's slug, a dot, and what its server calls it. */
export const toolSlug = (connection: string, tool: string): string => `${connection}.${tool}`;

/**
 * What models call a tool of a connection. Slugs have no underscore, and names of our own tools no two in a row, so no two tools have one
 * name; where a server's own name cannot be taken as it is, a hash of it tells it apart.
 */
export function toolName(connection: string, tool: string): string {
  const name = `${connection}__${tool}`;
  if (TOOL_NAME.test(name)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `${name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME - HASH_CHARACTERS - 1)}_${hash}`;
}
