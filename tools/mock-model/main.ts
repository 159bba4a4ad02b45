import { startMockModel } from './server';

async function main(): Promise<void> {
  const mock = await startMockModel({ port: Number(process.env.PORT || 0), host: process.env.HOST || '127.0.0.1' });
  const stop = (): void => void mock.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  console.log(JSON.stringify({ port: mock.port, pid: process.pid }));
}

main().catch((error: unknown) => {
  console.error(`mock-model: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
