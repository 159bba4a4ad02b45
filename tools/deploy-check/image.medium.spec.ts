import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import { createTestDatabase, testEnvironment, type TestDatabase } from '@aps/platform/testing';
import { ApiClient, freePort, until, type Demo } from '../../apps/api-gateway-e2e/support';
import { metricLabels } from '../tour/docs';
import { APPS, at, compose, read } from './files';
import { Container, filesOf, ImageBuilder, type Image } from './image';
import { ASKED, SCALING } from './monitoring';
import { askedBy, exposition, metricOf } from './promql';

/** What stands beside the main.js of an app: files of processes that it starts. */
const CHILDREN: Record<string, string[] | undefined> = {
  'api-gateway': ['text-reader.worker'],
  'chat-worker': ['text-reader.worker'],
  'inbox-intake': ['mail-reader.worker'],
  'process-engine': ['text-reader.worker', 'source-reader.worker'],
};
/** And what it sends to other machines. */
const SENT: Record<string, string[] | undefined> = { 'api-gateway': ['daemon.mjs', 'install.sh'] };

const MIB = 1024 * 1024;
/** Packages whose files an image holds: native code, and what is served as it is. */
const PACKAGES = /^node_modules\/(@bull-board\/ui|@node-rs\/argon2(-[\w-]+)?|swagger-ui-dist)\//;

/** The files that the Dockerfile makes, started apart from the workspace, as compose.yaml starts containers. */
describe('The images', () => {
  const builder = new ImageBuilder();
  const images = new Map<string, Image>();
  const containers = new Map<string, Container>();
  const internal = new Map<string, string>();
  const { services } = compose();
  /** Runs a service's command on its image. The secrets lie in the gateway's folder of that name. */
  const run = (service: string, env: Record<string, string>) => {
    const image = images.get(services[service].build!.args.APP)!;
    return new Container(image, env, services[service].command, { '/secrets': path.join(images.get('api-gateway')!.root, 'secrets') });
  };
  let volume: string;
  let smtpPort: number;
  let database: TestDatabase;
  let client: ApiClient;

  beforeAll(async () => {
    for (const app of APPS) images.set(app, builder.build(app));
    database = await createTestDatabase({ entities: [] });
    volume = mkdtempSync(path.join(tmpdir(), 'aps-volume-'));
    chmodSync(volume, 0o777);

    const [publicPort, adminPort, webhooksPort, intakePort, mockPort] = await Promise.all(Array.from({ length: 5 }, () => freePort()));
    smtpPort = await freePort();
    const {
      PORT: _p,
      INTERNAL_PORT: _i,
      NODE_ENV: _n,
      MASTER_KEYS: _m,
      INTERNAL_TOKEN_SECRET: _s,
      ...settings
    } = testEnvironment(database.url);
    const env = {
      ...settings,
      HOST: '127.0.0.1',
      INTERNAL_HOST: '127.0.0.1',
      APP_URL: `http://127.0.0.1:${publicPort}`,
      ADMIN_API_URL: `http://127.0.0.1:${adminPort}`,
      BILLING_WEBHOOKS_URL: `http://127.0.0.1:${webhooksPort}`,
      INBOX_INTAKE_URL: `http://127.0.0.1:${intakePort}`,
      SMTP_HOST: '127.0.0.1',
      SMTP_LISTEN_PORT: String(smtpPort),
      MAIL_DIR: path.join(volume, 'mail'),
      FILES_DIR: path.join(volume, 'files'),
      MOCK_ROUTE_ENABLED: 'true',
      MOCK_ROUTE_BASE_URL: `http://127.0.0.1:${mockPort}/v1`,
    };
    const secrets = run('secrets', {});
    expect([await secrets.ended, secrets.logs()]).toEqual([
      0,
      'made postgres/password\nmade apps/secrets.env\nmade internal/secrets.env\n',
    ]);

    const seed = path.join(volume, 'seed.json');
    const migration = run('migrate', { ...env, DEV_SEED_FILE: seed });
    containers.set('migrate', migration);
    expect([await migration.ended, migration.logs()]).toEqual([0, expect.stringMatching(/^migrated: /)]);
    client = new ApiClient(env.APP_URL, JSON.parse(readFileSync(seed, 'utf8')) as Demo);

    containers.set('mock-model', run('mock-model', { ...env, PORT: String(mockPort) }));
    const ports: Record<string, number> = {
      'api-gateway': publicPort,
      'admin-api': adminPort,
      'billing-webhooks': webhooksPort,
      'inbox-intake': intakePort,
    };
    for (const app of APPS) {
      const internalPort = String(await freePort());
      internal.set(app, internalPort);
      containers.set(app, run(app, { ...env, ...(ports[app] && { PORT: String(ports[app]) }), INTERNAL_PORT: internalPort }));
    }
    for (const app of APPS) {
      await until(
        `${app} is ready`,
        async () => {
          const container = containers.get(app)!;
          if (!container.isRunning) throw new Error(`${app} ended before it was ready:\n${container.logs()}`);
          return fetch(`http://127.0.0.1:${internal.get(app)}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          );
        },
        120_000,
      );
    }
  });

  afterAll(async () => {
    await Promise.all([...containers.values()].map((container) => container.stop()));
    await database?.drop();
    if (volume) rmSync(volume, { recursive: true, force: true });
    builder.remove();
  });

  it.each(APPS)('of %s holds what is bundled, and of npm packages what cannot be', (app) => {
    const { root, workdir } = images.get(app)!;
    const files = filesOf(path.join(root, workdir));
    const packages = [...files].filter(([file]) => file.startsWith('node_modules/'));
    expect(packages.map(([file]) => file).filter((file) => !PACKAGES.test(file) || file.endsWith('.map'))).toEqual([]);
    const sum = (entries: [string, number][]) => entries.reduce((total, [, size]) => total + size, 0) / MIB;
    expect(sum(packages)).toBeLessThan(10);
    expect(sum([...files])).toBeLessThan(60);
    // Licences go with every copy of a package, in a bundle too.
    const notices = readFileSync(path.join(root, workdir, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    for (const [name, version] of Object.entries(dependencies))
      expect([name, notices.includes(`${name} ${version}`)]).toEqual([name, true]);
    expect([...files.keys()]).toContain('LICENSE');
    // What its manifest runs before it is ended.
    expect([...files.keys()]).toContain('drain.js');
    // One app, no test, no source.
    expect(
      [...files.keys()].filter((file) => /\.spec\.|\/testing\/|\.tsx?$|^dist\/(apps|libs)\//.test(file) && !file.endsWith('.d.ts')),
    ).toEqual([]);
    expect([...files.keys()].filter((file) => file.startsWith('dist/bundles/')).sort()).toEqual(
      [app, 'migrate']
        .flatMap((name) => ['main', ...(CHILDREN[name] ?? [])].map((file) => `dist/bundles/${name}/${file}.js`))
        .flatMap((file) => [file, `${file}.map`])
        .concat((SENT[app] ?? []).map((file) => `dist/bundles/${app}/${file}`))
        .sort(),
    );
  });

  it.each(APPS)('of %s is healthy by its own health check', async (app) => {
    const { healthcheck } = images.get(app)!;
    for (const command of [healthcheck, services[app].healthcheck!.test!.slice(1)]) {
      const check = new Container(images.get(app)!, { INTERNAL_PORT: internal.get(app)! }, command);
      expect([command, await check.ended, check.logs()]).toEqual([command, 0, '']);
    }
  });

  it('migrate a second time without a change', async () => {
    const { MASTER_KEYS: _, ...env } = testEnvironment(database.url);
    const again = run('migrate', env);
    expect([await again.ended, again.logs()]).toEqual([0, 'schema is up to date\n']);
  });

  it('keep the secrets of the first run, each in a file for those who read it', async () => {
    const folder = path.join(images.get('api-gateway')!.root, 'secrets');
    const contents = () =>
      ['postgres/password', 'apps/secrets.env', 'internal/secrets.env'].map((file) => readFileSync(path.join(folder, file), 'utf8'));
    const [password, apps, internalSecrets] = contents();
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    expect(apps).toMatch(
      new RegExp(
        `^DATABASE_URL=(postgres://aps:${password}@postgres:5432/agent_platform)\nDATABASE_DIRECT_URL=\\1\nMASTER_KEYS=1:[A-Za-z0-9+/]{43}=\n$`,
      ),
    );
    expect(internalSecrets).toMatch(/^INTERNAL_TOKEN_SECRET=[0-9a-f]{64}\n$/);
    expect(statSync(path.join(folder, 'apps/secrets.env')).mode & 0o777).toBe(0o400);

    const again = run('secrets', {});
    expect([await again.ended, again.logs(), contents()]).toEqual([0, '', [password, apps, internalSecrets]]);
  });

  it('serve the page of the API with all that it loads', async () => {
    const page = `${client.url}/api/docs`;
    const answer = await fetch(page);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    const loaded = [...(await answer.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link);
    expect(loaded.length).toBeGreaterThan(3);
    for (const link of loaded) {
      const asset = await fetch(new URL(link, page));
      const { byteLength } = await asset.arrayBuffer();
      expect([link, asset.status, byteLength > 0]).toEqual([link, 200, true]);
    }
    const document = await client.call('GET', '/api/openapi.json', { as: null });
    expect([document.status, document.body]).toEqual([200, JSON.parse(readFileSync(at('openapi/openapi.json'), 'utf8'))]);
  });

  it('let a person log in, an agent answer and an operator look', async () => {
    const login = await client.call('POST', '/api/auth/login', { as: null, body: client.demo.user });
    expect([login.status, login.body]).toEqual([200, expect.objectContaining({ session: expect.anything() })]);

    const chat = await client.openChat();
    await client.send(chat, 'Hello from a container');
    const { messages } = await client.settled(chat, 1);
    expect((messages as { content: string }[]).map(({ content }) => content)).toEqual([
      'Hello from a container',
      'You said: Hello from a container',
    ]);

    const orgs = await client.admin('GET', '/orgs');
    expect([orgs.status, orgs.body.items.map(({ id }: { id: string }) => id)]).toEqual([200, expect.arrayContaining([client.demo.org_id])]);
  });

  it('take a mail in, read by a process of its own, and hand it to an agent', async () => {
    const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true });
    const mail = { from: 'ann@example.com', to: client.demo.inbox.address, subject: 'From a container', text: 'Hello' };
    const { response } = (await transport.sendMail(mail)) as { response: string };
    expect(response).toMatch(/^250 Taken as /);
    const titles = await until('the mail begins a chat', async () => {
      const { body } = await client.call('GET', `${client.chatsPath()}?limit=1`);
      return body.items[0].origin?.kind === 'inbox' && body.items.map(({ title }: { title: string }) => title);
    });
    expect(titles).toEqual(['From a container']);
  });

  it('export every metric that is registered, with its labels, and what rules, dashboards and KEDA ask for', async () => {
    const registered = metricLabels();
    const served = new Map<string, ReturnType<typeof exposition>>();
    for (const app of APPS) served.set(app, exposition(await (await fetch(`http://127.0.0.1:${internal.get(app)}/metrics`)).text()));
    const names = new Set([...served.values()].flatMap((one) => one.names));
    expect([...registered.keys()].filter((name) => !names.has(name))).toEqual([]);

    const foreign = [...served.values()]
      .flatMap(({ samples }) => samples)
      .filter(({ metric, labels }) =>
        Object.keys(labels).some((label) => label !== 'le' && registered.get(metricOf(metric))?.includes(label) === false),
      );
    expect(foreign).toEqual([]);

    // What is counted per organization or outcome has no sample before the first; the figures that pods are scaled by have one at once.
    expect(ASKED.length).toBeGreaterThan(30);
    for (const [who, expression] of ASKED)
      for (const { metric } of askedBy(expression).metrics)
        expect([who, metric, names.has(metricOf(metric)) || names.has(metric)]).toEqual([who, metric, true]);
    const scaling = SCALING.flatMap(({ query }) => askedBy(query).metrics);
    expect(scaling.length).toBeGreaterThan(1);
    const samples = [...served.values()].flatMap((one) => one.samples);
    for (const { metric, labels } of scaling) {
      const wanted = Object.fromEntries([...labels].filter(([label]) => registered.get(metric)?.includes(label)));
      expect(samples).toContainEqual({ metric, labels: wanted });
    }
  });

  it('end in order when they are told to', async () => {
    for (const app of APPS) {
      const container = containers.get(app)!;
      await container.stop();
      expect([app, await container.ended, container.logs()]).toEqual([app, 0, expect.not.stringMatching(/"level":[56]0/)]);
    }
  });
});
