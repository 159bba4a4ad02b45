// `node healthcheck.js [path]`: exits 0 when the process in this container answers 2xx on its internal port.
// Alive (/healthz) by default, so that an orchestrator which replaces unhealthy containers does not do so because the
// database is away; /readyz asks whether it can work right now.
const path = process.argv[2] ?? '/healthz';
const port = process.env.INTERNAL_PORT || 9090;

fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4_000) }).then(
  (answer) => process.exit(answer.ok ? 0 : 1),
  () => process.exit(1),
);
