import { startDemoTools } from './server';

async function main(): Promise<void> {
  const { PORT, HOST, DEMO_TOOLS_API_KEY } = process.env;
  const tools = await startDemoTools({ port: Number(PORT || 0), host: HOST || '127.0.0.1', apiKey: DEMO_TOOLS_API_KEY || undefined });
  const stop = (): void => void tools.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  console.log(JSON.stringify({ port: tools.port, pid: process.pid }));
}

main().catch((error: unknown) => {
  console.error(`demo-tools: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
