// `node drain.js [seconds]`, before a worker's container is ended: lets the worker in it begin nothing new, and returns when it has ended
// what it runs, or when so much time is over (240 s). What is left then is handed over at SIGTERM, from its last finished step.
const seconds = Number(process.argv[2] ?? 240);
const pid = Number(process.env.APP_PID || 1);
const port = process.env.INTERNAL_PORT || 9090;
/** One that has not heard it by then is just starting, or stuck. */
const HEARD_WITHIN_MS = 15_000;

/** How many jobs the worker runs; undefined while it does not drain, or says nothing. */
async function running() {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(9_000) }).catch(() => undefined);
  const text = (await answer?.text().catch(() => undefined)) ?? '';
  if (!/^worker_draining 1$/m.test(text)) return undefined;
  return [...text.matchAll(/^worker_jobs_running\{[^}]*\} (\d+)$/gm)].reduce((sum, [, jobs]) => sum + Number(jobs), 0);
}

async function main() {
  process.kill(pid, 'SIGUSR2');
  const since = performance.now();
  let heard = false;
  for (let ms = 0; ms < seconds * 1_000; ms = performance.now() - since) {
    const jobs = await running();
    if (jobs === 0) return;
    heard ||= jobs !== undefined;
    if (!heard && ms > HEARD_WITHIN_MS) throw new Error('it does not say that it drains');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

main().catch((error) => {
  console.error(`The worker cannot be drained: ${error.message}`);
  process.exit(1);
});
