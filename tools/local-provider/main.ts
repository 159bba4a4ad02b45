import path from 'node:path';
import { createDataSource, Database, databaseConfig } from '@aps/platform/database';
import { productIn } from './catalog.repository';
import { startLocalProvider } from './server';

async function main(): Promise<void> {
  const { PORT, HOST, APS_DATA_DIR, WEBHOOK_URL, WEBHOOK_SECRET } = process.env;
  if (!WEBHOOK_URL || !WEBHOOK_SECRET) throw new Error('WEBHOOK_URL and WEBHOOK_SECRET say where deliveries go, and what signs them.');
  const url = databaseConfig.value.url;
  const dataSource = await createDataSource({ entities: [] }, { url, poolSize: 2, applicationName: 'aps-local-provider' }).initialize();
  const db = new Database(dataSource);
  const provider = await startLocalProvider({
    port: Number(PORT || 0),
    host: HOST || '127.0.0.1',
    webhookUrl: WEBHOOK_URL,
    webhookSecret: WEBHOOK_SECRET,
    catalog: (id) => productIn(db, id),
    file: APS_DATA_DIR && path.join(APS_DATA_DIR, 'local-provider.json'),
  });
  const stop = (): void => void provider.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  console.log(JSON.stringify({ port: provider.port, pid: process.pid }));
}

main().catch((error: unknown) => {
  console.error(`local-provider: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
