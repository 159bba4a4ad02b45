import { posix } from 'node:path';
import { WORKSPACE } from '../sandbox/sandbox-driver';

/**
 * The place that a path means, which relative ones begin at the workspace.
 *
 * @returns null where that is not within the workspace
 */
export function insideWorkspace(given: string): string | null {
  if (given.includes('\0')) return null;
  const resolved = posix.resolve(WORKSPACE, given);
  return resolved === WORKSPACE || resolved.startsWith(`${WORKSPACE}/`) ? resolved : null;
}
