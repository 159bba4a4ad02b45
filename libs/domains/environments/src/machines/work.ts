import type { ClaimedCommand } from '../commands/commands.sql';

/** A command as it travels to its machine. */
export const workOf = ({ id, kind, command, workdir, timeout_s, path, content, workspace }: ClaimedCommand) => ({
  ...{ id, kind, command, workdir, timeout_s, path, workspace },
  content_base64: content && content.toString('base64'),
});
