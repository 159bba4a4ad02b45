/**
 * Loaded first into every Node process that the development tools start. When the starter is gone (a kill -9 included)
 * the channel to it closes; the process then stops as if asked to, and in any case after half a minute.
 */
const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.channel) {
  process.on('disconnect', () => {
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.exit(1), 30_000).unref();
  });
  process.channel.unref();
  // The log goes to the starter: with nobody to read it, a write must not be what ends the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
