import { existsSync } from 'node:fs';
import path from 'node:path';
import { runtimeConfig } from '@aps/platform/runtime';
import { allSections } from '../env-example/sections';
import { APPS, at, compose, dockerfile, FOREIGN_VARIABLES, INTERNAL_APPS, read, RUN_APPS } from './files';

const seconds = (text = ''): number => Number(/^(\d+)s$/.exec(text)?.[1]);

describe('The Dockerfile', () => {
  const instructions = dockerfile();
  const of = (name: string, stage?: string) => instructions.filter((i) => i.name === name && (stage === undefined || i.stage === stage));
  const copies = of('COPY');

  it('copies only what exists and what .dockerignore lets through', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const fromContext = copies.filter(({ args }) => !args.includes('--from='));
    expect(fromContext.length).toBeGreaterThan(0);
    for (const { args } of fromContext) {
      for (const source of args.split(/\s+/).slice(0, -1)) {
        expect([source, existsSync(at(source))]).toEqual([source, true]);
        expect([source, allowed.some((entry) => source === entry || source.startsWith(`${entry}/`))]).toEqual([source, true]);
      }
    }
    for (const entry of allowed) expect([entry, existsSync(at(entry))]).toEqual([entry, true]);
  });

  it('ignores everything that it does not name, and secrets and tests in what it names', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    expect(lines).toEqual(expect.arrayContaining(['**/.env*', '**/node_modules', '**/*.spec.ts', 'apps/*-e2e']));
    expect(lines.lastIndexOf('**/.env*')).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('!')));
  });

  it('copies between stages only what an earlier stage has made', () => {
    const stages = of('FROM').map((i) => i.stage);
    for (const { args, stage } of copies) {
      const from = /--from=(\S+)/.exec(args)?.[1];
      if (from) expect(stages.slice(0, stages.indexOf(stage))).toContain(from);
    }
  });

  it('runs every stage on one slim Node 24, named by a tag', () => {
    const image = of('ARG')
      .map(({ args }) => /^NODE_IMAGE=(.+)$/.exec(args)?.[1])
      .find(Boolean);
    expect(image).toMatch(/^node:24(\.\d+){0,2}-bookworm-slim$/);
    // What the images run is what CI runs the tests on, too.
    expect(read('.ci/run')).toMatch(/"node-\$platform@24\.\d+\.\d+"/);
    const stages = of('FROM').map((i) => i.stage);
    for (const { args } of of('FROM')) {
      const base = args.split(' ')[0];
      expect(base === '${NODE_IMAGE}' || stages.includes(base)).toBe(true);
    }
  });

  it('installs what the lock file says, and takes into the image what is laid out for it and nothing else', () => {
    const installs = of('RUN').filter(({ args }) => /\bnpm\b/.test(args));
    expect(installs.length).toBeGreaterThan(0);
    for (const { args, stage } of installs) expect([stage, args]).toEqual(['build', expect.stringContaining('npm ci')]);
    expect(copies.filter((i) => i.stage === 'runtime').map((i) => i.args)).toEqual(['--from=build /out ./']);
  });

  it('runs as a numbered user other than root, to the end', () => {
    const users = of('USER', 'runtime');
    expect(users.at(-1)?.args).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    const after = instructions.slice(instructions.indexOf(users[0]));
    expect(after.filter((i) => ['RUN', 'COPY', 'ADD'].includes(i.name))).toEqual([]);
    for (const { args } of copies.filter((i) => i.stage === 'runtime')) expect(args).not.toContain('--chown');
  });

  it('starts the app, with a health check on the internal port', () => {
    expect(of('HEALTHCHECK', 'runtime')[0].args).toMatch(/CMD \["node", "healthcheck\.js"\]$/);
    expect(read('docker/healthcheck.js')).toContain('INTERNAL_PORT');
    expect(of('CMD', 'runtime')[0].args).toBe('["node", "main.js"]');
    expect(of('EXPOSE').map((i) => i.args)).toEqual(['3000']);
  });

  it('holds no secret, neither as a variable nor as an argument', async () => {
    const settings = (await allSections()).flatMap((s) => Object.values(s.settings));
    const secrets = settings.filter((s) => s.secret).map((s) => s.env);
    const names = [...of('ENV'), ...of('ARG')].flatMap(({ args }) => [...args.matchAll(/(\w+)(?==|$|\s)/g)].map((m) => m[1]));
    expect(names.filter((name) => secrets.includes(name))).toEqual([]);
    expect(of('ADD')).toEqual([]);
  });

  it('sets only variables that the configuration knows', async () => {
    const known = new Set([...(await allSections()).flatMap((s) => Object.values(s.settings).map((x) => x.env)), ...FOREIGN_VARIABLES]);
    const set = of('ENV').flatMap(({ args }) => [...args.matchAll(/(?:^|\s)([A-Z_]+)=/g)].map((m) => m[1]));
    expect(set).toContain('INTERNAL_PORT');
    expect(set.filter((name) => !known.has(name))).toEqual([]);
  });

  it('carries the labels of an OCI image', () => {
    for (const label of ['title', 'version', 'revision', 'created'])
      expect(of('LABEL')[0].args).toContain(`org.opencontainers.image.${label}=`);
  });
});

describe('compose.yaml', () => {
  const { services, networks } = compose();
  const ours = Object.entries(services).filter(([, service]) => service.build);

  it('runs every app, each built from the one Dockerfile', () => {
    for (const app of APPS) expect(services[app]?.build).toEqual({ context: '..', dockerfile: 'docker/Dockerfile', args: { APP: app } });
    for (const [name, { build }] of ours) {
      expect([name, APPS.includes(build?.args.APP ?? '')]).toEqual([name, true]);
      expect(existsSync(at('docker', build?.context ?? '', build?.dockerfile ?? ''))).toBe(true);
    }
  });

  it('publishes the port of the gateway, and that of mail, to this machine, and no other', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(published).toEqual([
      ['api-gateway', expect.stringMatching(/^\$\{BIND:-127\.0\.0\.1\}:.*:3000$/)],
      ['inbox-intake', expect.stringMatching(/^\$\{SMTP_BIND:-127\.0\.0\.1\}:.*:2525$/)],
    ]);
  });

  it('gives no way out to what needs none', () => {
    const out = (name: string) =>
      services[name].network_mode !== 'none' && (services[name].networks ?? []).some((network) => !networks[network].internal);
    expect(Object.keys(services).filter(out).sort()).toEqual(['api-gateway', 'billing-webhooks', ...RUN_APPS].sort());
  });

  it('runs our processes without a writable root, capabilities or new privileges', () => {
    for (const [name, service] of ours) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          read_only: true,
          tmpfs: ['/tmp'],
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
          init: true,
        }),
      ]);
    }
  });

  it('waits for databases that answer and a migration that succeeded', () => {
    for (const app of APPS) {
      expect(services[app].depends_on).toMatchObject({
        postgres: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
        migrate: { condition: 'service_completed_successfully' },
      });
      expect(services[app].healthcheck?.test).toEqual(['CMD', 'node', 'healthcheck.js', '/readyz']);
    }
    for (const server of ['postgres', 'redis', 'mock-model']) expect(services[server].healthcheck?.test?.[0]).toBe('CMD');
    expect(services.migrate.command?.at(-1)).toBe('dist/bundles/migrate/main.js');
  });

  it('asks for no variable: the first run makes the secrets, before anybody who reads them', () => {
    expect(read('docker/compose.yaml')).not.toMatch(/\$\{\w+:?\?/);
    expect(services.secrets).toMatchObject({ command: ['node', 'secrets.js', '/secrets'], network_mode: 'none', restart: 'no' });
    expect(services.postgres.depends_on).toEqual({ secrets: { condition: 'service_completed_successfully' } });
  });

  it('gives each secret to those who read it, and to them only for reading', () => {
    const mounts = (volume: string) =>
      Object.entries(services).flatMap(([name, { volumes = [] }]) =>
        volumes.filter((v) => v.startsWith(`${volume}:`)).map((v) => (v.endsWith(':ro') ? name : `${name} writes`)),
      );
    expect(mounts('secrets-postgres')).toEqual(['secrets writes', 'postgres']);
    expect(mounts('secrets-internal').sort()).toEqual([...INTERNAL_APPS, 'secrets writes'].sort());
    expect(mounts('secrets-apps').sort()).toEqual([...APPS, 'migrate', 'secrets writes'].sort());
    for (const [name, { command = [], volumes = [] }] of Object.entries(services)) {
      const files = command.flatMap((word) => /^--env-file=\/secrets\/(\w+)\//.exec(word)?.[1] ?? []);
      expect([name, files]).toEqual([
        name,
        name === 'secrets' ? [] : volumes.flatMap((v) => /^secrets-(apps|internal):/.exec(v)?.[1] ?? []),
      ]);
    }
  });

  it('brings the mock model where it is asked for, and nobody waits for it', () => {
    expect(services['mock-model'].profiles).toEqual(['mock']);
    for (const service of Object.values(services)) {
      expect(Object.keys(service.depends_on ?? {})).not.toContain('mock-model');
      if (service.environment && 'MOCK_ROUTE_ENABLED' in service.environment)
        expect(service.environment.MOCK_ROUTE_ENABLED).toBe('${MOCK_ROUTE_ENABLED:-off}');
    }
  });

  it('lets Redis neither evict nor forget', () => {
    expect(services.redis.command?.join(' ')).toMatch(/--maxmemory-policy noeviction --appendonly yes/);
  });

  it('lets an app finish: it is killed later than it gives up by itself', () => {
    const { schema } = runtimeConfig.settings.shutdownGraceMs;
    for (const app of APPS) expect(seconds(services[app].stop_grace_period)).toBeGreaterThan(schema.parse(undefined) / 1000 + 5);
  });

  it('names images by a tag that is not latest', () => {
    for (const [name, { image }] of Object.entries(services)) {
      expect([name, image]).toEqual([name, expect.stringMatching(/^[a-z0-9/.-]+:(\$\{APS_VERSION:-dev\}|[\w.-]+)$/)]);
      expect(image).not.toMatch(/:latest$/);
    }
  });

  it('passes every setting that is no secret on to every app, but those that are decided here', async () => {
    const decided = [
      // Where the services of the file are, what its volumes hold, and what the image says of addresses; PORT is the port of this machine.
      ...['ADMIN_API_URL', 'BILLING_WEBHOOKS_URL', 'INBOX_INTAKE_URL', 'MOCK_ROUTE_BASE_URL', 'REDIS_URL', 'FILES_DIR', 'MAIL_DIR'],
      ...['HOST', 'PORT', 'SMTP_HOST', 'SMTP_LISTEN_PORT', 'INTERNAL_HOST', 'INTERNAL_PORT', 'NODE_ENV', 'APP_VERSION'],
      // Of clusters, and none is here.
      ...['SANDBOX_NAMESPACE', 'SANDBOX_RUNTIME_CLASS', 'SANDBOX_K8S_STORAGE_CLASS', 'SANDBOX_K8S_STORAGE', 'SANDBOX_K8S_API'],
      'SANDBOX_K8S_CREDENTIALS',
      // Of one app each: an app refuses to consume the queues of another, and spans of all under one name tell nothing.
      ...['QUEUES', 'OTEL_SERVICE_NAME'],
      // The keys come with the secrets of the first run; and Docker gives an app a time to end that goes with the default.
      ...['MASTER_KEYS_FILE', 'SHUTDOWN_GRACE_MS'],
    ];
    const settings = (await allSections()).flatMap((s) => Object.values(s.settings)).filter(({ secret }) => !secret);
    const names = settings.map(({ env }) => env).filter((name) => !decided.includes(name));
    for (const app of APPS) {
      const { environment = {}, volumes = [] } = services[app];
      const read = names.filter((name) => !name.startsWith('S3_') || volumes.includes('files:/files'));
      const ignored = read.filter((name) => environment[name] !== null && !environment[name]?.startsWith(`\${${name}:-`));
      expect([app, ignored]).toEqual([app, []]);
    }
  });

  it('names only variables that the configuration knows, and no secret by value', async () => {
    const settings = new Map((await allSections()).flatMap((s) => Object.values(s.settings)).map((s) => [s.env, s]));
    for (const [name, { environment = {} }] of Object.entries(services)) {
      for (const [variable, value] of Object.entries(environment)) {
        expect([name, variable, settings.has(variable) || FOREIGN_VARIABLES.includes(variable)]).toEqual([name, variable, true]);
        if (value === null || (!settings.get(variable)?.secret && !/PASSWORD$/.test(variable))) continue;
        // What is left without the references: nothing, or an address without a password.
        const left = value.replace(/\$\{[A-Z0-9_]+:-\}/g, '');
        expect([name, variable, left]).toEqual([name, variable, expect.stringMatching(/^$|^redis:\/\/redis:6379\/0$/)]);
      }
    }
  });

  it('gives the internal secret to those who sign or verify with it, and to nobody else', () => {
    const holders = Object.keys(services).filter((name) => 'INTERNAL_TOKEN_SECRET' in (services[name].environment ?? {}));
    expect(holders.sort()).toEqual([...INTERNAL_APPS].sort());
  });

  it('keeps the number of connections within what PostgreSQL takes', async () => {
    const pool = (await allSections())
      .flatMap((s) => Object.values(s.settings))
      .find((s) => s.env === 'DATABASE_POOL_SIZE')
      ?.schema.parse(undefined) as number;
    const limit = Number(/max_connections=(\d+)/.exec(services.postgres.command?.join(' ') ?? '')?.[1]);
    // Two more each for what does not go through the pool.
    expect(APPS.length * (pool + 2) + 10).toBeLessThan(limit);
  });
});

it('every path that the deployment documentation names exists', () => {
  const text = read('docs/operations/deploying.md');
  const named = [...text.matchAll(/`((?:docker|k8s|tools|docs|libs|apps)\/[\w./-]+)`/g)].map((m) => m[1]);
  expect(named.length).toBeGreaterThan(5);
  for (const file of named) expect([file, existsSync(at(path.normalize(file))) || file === 'docker/.env']).toEqual([file, true]);
});
