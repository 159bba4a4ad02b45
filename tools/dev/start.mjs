/**
 * `npm start`: the whole platform on this machine, from nothing but Node. With --watch (`npm run dev`) it builds again on
 * every change and restarts what the change concerns.
 *
 * Everything that runs is a child of this process and ends with it: in order on Ctrl-C or SIGTERM, and by itself when this
 * process is killed (see processes.mjs). Data, logs and secrets are in APS_DATA_DIR, by default .data.
 */
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from './build.mjs';
import { builtApps } from './lib/apps.mjs';
import { UserError, runMain, say, seconds, show, step } from './lib/console.mjs';
import { demoMail, demoProcess, demoTurn } from './lib/demo.mjs';
import { readJson, replaceFile } from './lib/files.mjs';
import { checkNode, ensureInstalled } from './lib/install.mjs';
import { ChildLog, note } from './lib/logs.mjs';
import { appMain, appModule, dataDir, root, toolMain } from './lib/paths.mjs';
import { Service, endOrphan, freePort, portProblem, spawnNode, takeLock } from './lib/processes.mjs';
import { developmentSecrets } from './lib/secrets.mjs';
import { sourcesOf, watchSources } from './lib/watch.mjs';
import { makeDataDir, startStack } from './stack.mjs';

const STOP_APPS_MS = 30_000;

/** While somebody edits, a restart comes sooner without bundling. */
const watching = process.argv.includes('--watch');
const bundled = !watching;
const mainOf = watching ? appModule : appMain;

/** Thrown between two steps of the start when a stop was asked for meanwhile. */
class Stopped extends Error {}

class DevelopmentStack {
  #stop = new AbortController();
  /** Apps and tools by name, in the order in which they started. */
  #services = new Map();
  #children = new Map();
  #mark = `APS_DATA_DIR=${dataDir()} `;
  /** Per app: the variables that are its own, and the address of its internal port. */
  #internal = new Map();
  #described;

  constructor() {
    this.dir = dataDir();
    this.file = (name) => path.join(this.dir, name);
    this.logFile = (name) => this.file(path.join('logs', `${name}.log`));
  }

  get stopped() {
    return this.#stop.signal.aborted;
  }

  /** Asked for by Ctrl-C: nothing new begins, and whoever waits for an app to become ready stops waiting. */
  requestStop() {
    this.#stop.abort();
    for (const service of this.#apps()) void service.stop();
  }

  #apps() {
    return [...this.#services.values()].filter(({ name }) => this.#internal.has(name));
  }

  untilStop() {
    return new Promise((resolve) => (this.stopped ? resolve() : this.#stop.signal.addEventListener('abort', resolve, { once: true })));
  }

  async #step(name, work) {
    if (this.stopped) throw new Stopped();
    await step(name, work);
    if (this.stopped) throw new Stopped();
  }

  // --------------------------------------------------------------------------------------------------------- bring up

  /** What can be refused before anything is started. */
  async prepare() {
    makeDataDir(this.dir);
    this.#claim();
    await this.#clearOrphans();
    await this.#choosePublicPort();
  }

  async bringUp() {
    const since = performance.now();
    await ensureInstalled();
    await this.#step('build', async () => `${(await build(undefined, { bundled })).compiled.length} files compiled`);
    await this.#step('data', async () => {
      this.servers = await startStack({ dir: this.dir, database: 'agent_platform', keep: true });
      return `PostgreSQL ${this.servers.postgres.detail}; Redis ${this.servers.redis.detail}`;
    });
    this.env = this.#environment();
    if (existsSync(toolMain('mock-model'))) await this.#step('mock model', () => this.#startMockModel());
    await this.#step('migrate', () => this.#migrate());
    if (!this.env.DEMO_TOOLS_URL) await this.#step('demo tools', () => this.#startDemoTools());
    if (!this.env.POLAR_ACCESS_TOKEN) await this.#step('local provider', () => this.#startLocalProvider());
    await this.#planApps();
    await Promise.all(builtApps().map((app) => this.#step(app.name, () => this.#startApp(app))));

    this.#describe();
    say(`\nReady in ${seconds(performance.now() - since)}; logs in ${show(this.file('logs'))}, Ctrl-C stops everything.`);
    if (this.#described.api_token) await this.#introduce();
  }

  /** One start per data folder. */
  #claim() {
    const holder = takeLock(this.file('start.lock'), 'start.mjs');
    if (holder)
      throw new UserError(
        `It is already running on ${show(this.dir)} as pid ${holder}; stop that one, or start a second one with APS_DATA_DIR and PORT set to others.`,
      );
    rmSync(this.file('dev.json'), { force: true });
  }

  async #choosePublicPort() {
    this.host = process.env.HOST || '127.0.0.1';
    const wanted = process.env.PORT || '3000';
    this.port = wanted === '0' ? await freePort() : Number(wanted);
    if (!Number.isInteger(this.port) || this.port < 1 || this.port > 65_535) throw new UserError(`PORT is ${wanted}, which is no port.`);
    const problem = await portProblem(this.port, this.host);
    if (problem === 'EADDRINUSE')
      throw new UserError(`Port ${this.port} of ${this.host} is taken; stop what listens there, or set PORT to another one.`);
    if (problem) throw new UserError(`Port ${this.port} of ${this.host} cannot be used (${problem}); set PORT or HOST to others.`);
    const name = ['0.0.0.0', '::'].includes(this.host) ? '127.0.0.1' : this.host;
    this.baseUrl = `http://${name.includes(':') ? `[${name}]` : name}:${this.port}`;
  }

  /** Ends what a killed start left and what did not notice that its starter is gone. */
  async #clearOrphans() {
    const children = readJson(this.file('children.json')) ?? [];
    await Promise.all(children.map((pid) => endOrphan(pid, this.#mark)));
  }

  #environment() {
    const { dir, baseUrl } = this;
    const own = {
      ...developmentSecrets(dir),
      APP_URL: baseUrl,
      MAIL_DIR: path.join(dir, 'mail'),
      FILES_DIR: path.join(dir, 'files'),
      // A person trying things out is no attacker.
      RATE_LIMITS: 'off',
      // Nobody balances over one gateway: Ctrl-C and restarts are quick.
      SHUTDOWN_DELAY_MS: '0',
      // Their mails land in MAIL_DIR, where nobody looks.
      EMAIL_PROOF: 'off',
      MAX_OWNED_ORGS: '0',
      NODE_ENV: 'development',
      DEV_SEED_FILE: this.file('seed.json'),
      DATABASE_DIRECT_URL: this.servers.postgres.url,
    };
    return {
      ...own,
      ...nonEmpty(process.env),
      APS_DATA_DIR: dir,
      DATABASE_URL: this.servers.postgres.url,
      REDIS_URL: this.servers.redis.url,
    };
  }

  async #startMockModel() {
    const { url } = await this.#startServer('mock-model');
    this.env = { MOCK_ROUTE_ENABLED: 'true', MOCK_ROUTE_BASE_URL: `${url}/v1`, ...this.env };
    return url;
  }

  /** What the app `demo` of the catalog connects to, and where its managed apps come from. */
  async #startDemoTools() {
    this.demoTools = await this.#startServer('demo-tools');
    this.env = { DEMO_APPS_URL: this.demoTools.url, ...this.env, DEMO_TOOLS_URL: `${this.demoTools.url}/mcp` };
    return this.env.DEMO_TOOLS_URL;
  }

  /** Sells without money, and delivers through the gateway. */
  async #startLocalProvider() {
    const secret = this.env.POLAR_WEBHOOK_SECRETS;
    const env = { WEBHOOK_URL: `${this.baseUrl}/api/webhooks/polar`, WEBHOOK_SECRET: secret.split(/[\s,]+/).find(Boolean) };
    this.provider = await this.#startServer('local-provider', env);
    this.env = { ...this.env, POLAR_ACCESS_TOKEN: 'polar_oat_local', POLAR_API_URL: this.provider.url };
    return this.provider.url;
  }

  /** A tool that serves, and says so. */
  async #startServer(name, env = {}) {
    const port = await freePort();
    let announced;
    const service = this.#service(name, {
      main: toolMain(name),
      env: { PORT: String(port), ...env },
      onLaunch: () => (announced = false),
      onLine: (line) => (announced ||= line.startsWith('{"port"')),
      isReady: async () => announced,
    });
    await service.start();
    return { url: `http://127.0.0.1:${port}`, secret: env.WEBHOOK_SECRET };
  }

  /** Brings the schema up to date and seeds the demo organization; both change nothing the second time. */
  async #migrate() {
    const log = new ChildLog('migrate', this.logFile('migrate'));
    const child = spawnNode(toolMain('migrate'), [], { cwd: root, env: this.env });
    log.follow(child);
    const code = await new Promise((resolve) => child.once('close', (exit, signal) => resolve(signal ?? exit)));
    if (code !== 0 && !this.stopped) throw new UserError(`The migration failed: ${log.lastWords || code} (all of it: ${show(log.file)})`);
    if (existsSync(this.env.DEV_SEED_FILE)) chmodSync(this.env.DEV_SEED_FILE, 0o600);
    return 'schema and demo data are up to date';
  }

  async #planApps() {
    for (const { name, port, announces, takesMail } of builtApps()) {
      const own = port === 'public' ? this.port : port === 'private' ? await freePort() : undefined;
      const internal = await freePort();
      if (takesMail) this.smtp = { host: this.env.SMTP_HOST ?? '127.0.0.1', port: Number(this.env.SMTP_LISTEN_PORT) || (await freePort()) };
      this.#internal.set(name, {
        env: {
          ...(own && { PORT: String(own) }),
          ...(port === 'public' && { HOST: this.host }),
          ...(takesMail && { SMTP_LISTEN_PORT: String(this.smtp.port) }),
          INTERNAL_PORT: String(internal),
        },
        url: `http://127.0.0.1:${internal}`,
      });
      if (announces) this.env[announces] = `http://127.0.0.1:${own}`;
    }
  }

  async #startApp({ name, port }) {
    const { env, url } = this.#internal.get(name);
    const service = this.#service(name, {
      main: mainOf(name),
      env,
      isReady: async () => (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).status === 200,
      graceMs: STOP_APPS_MS,
    });
    await service.start();
    return port === 'public' ? this.baseUrl : `pid ${service.pid}`;
  }

  #service(name, { main, env, isReady, onLaunch, onLine, graceMs }) {
    const log = new ChildLog(name, this.logFile(name));
    const service = new Service({
      name,
      isReady,
      graceMs,
      keep: true,
      launch: () => {
        onLaunch?.();
        const child = spawnNode(main, [], { cwd: root, env: { ...this.env, PORT: undefined, HOST: undefined, ...env } });
        note(log.file, `started as pid ${child.pid}`);
        log.follow(child, onLine);
        return child;
      },
      lastWords: () => `${log.lastWords || 'it said nothing'} (all of it: ${show(log.file)})`,
      onPid: () => {
        this.#recordChild(name, service.pid);
        if (this.#described) this.#describe();
      },
    });
    this.#services.set(name, service);
    return service;
  }

  /** children.json is for the next start, should this one be killed. */
  #recordChild(name, pid) {
    this.#children.set(name, pid);
    replaceFile(this.file('children.json'), JSON.stringify([...this.#children.values()]));
  }

  // ----------------------------------------------------------------------------------------------------------- tell

  /** dev.json: what a script needs to talk to the running stack. */
  #describe() {
    const { baseUrl, env } = this;
    this.#described = {
      base_url: baseUrl,
      docs_url: `${baseUrl}/api/docs`,
      database_url: env.DATABASE_URL,
      redis_url: env.REDIS_URL,
      ...readJson(env.DEV_SEED_FILE),
      ...(this.provider && { polar: { api_url: this.provider.url, webhook_secret: this.provider.secret } }),
      ...(this.smtp && {
        smtp: this.smtp,
        email_hook: { url: `${baseUrl}/api/hooks/email/generic`, secret: env.INBOUND_EMAIL_SECRET_GENERIC },
      }),
      mail_dir: env.MAIL_DIR,
      processes: Object.fromEntries(
        [...this.#internal, ['demo-tools', this.demoTools], ['local-provider', this.provider]]
          .filter(([, server]) => server)
          .map(([name, { url }]) => [name, { pid: this.#services.get(name).pid, internal_url: url }]),
      ),
    };
    replaceFile(this.file('dev.json'), `${JSON.stringify(this.#described, null, 2)}\n`);
  }

  async #introduce() {
    const { base_url: base, docs_url: docs, org_id: org, agent_id: agent, api_token: token } = this.#described;
    const marker = this.file('introduced');
    if (!existsSync(marker)) {
      const turn = await this.#show('turn', demoTurn);
      const mail = !this.smtp || (await this.#show('mail', demoMail));
      const run = !this.smtp || (await this.#show('process', demoProcess));
      if (this.stopped) return;
      if (turn && mail && run) writeFileSync(marker, '');
    }
    say(`\n  API    ${base}/api\n  docs   ${docs}\n  keys   ${show(this.file('dev.json'))}\n`);
    say(`  curl -s -H 'Authorization: Bearer ${token}' ${base}/api/orgs/${org}/agents/${agent}/chats\n`);
  }

  /** @returns whether it worked; why it has not is said */
  async #show(name, demo) {
    try {
      await demo(this.#described, this.#stop.signal);
      return true;
    } catch (error) {
      if (!this.stopped)
        say(`\nThe demo ${name} did not work: ${error.name === 'TimeoutError' ? 'no complete reply within a minute' : error.message}`);
      return false;
    }
  }

  // ----------------------------------------------------------------------------------------------------------- watch

  watch() {
    const close = watchSources(() => this.#rebuild().catch((error) => say(error.message)));
    this.#stop.signal.addEventListener('abort', close, { once: true });
    say('Watching apps, libs and tools.');
  }

  async #rebuild() {
    const since = performance.now();
    const { compiled, removed } = await build(undefined, { bundled });
    const changed = [...compiled, ...removed];
    const concerns = (main) => {
      const sources = sourcesOf(main);
      return changed.some((source) => sources.has(source));
    };
    if (!changed.length || this.stopped) return;
    if (concerns(toolMain('migrate'))) await this.#migrate();
    const names = [...this.#services.keys()].filter((name) => concerns(this.#internal.has(name) ? mainOf(name) : toolMain(name)));
    const results = await Promise.allSettled(names.map((name) => this.#services.get(name).restart()));
    if (this.stopped) return;
    for (const { reason } of results) if (reason) say(reason.message);
    say(
      `built ${changed.length === 1 ? changed[0] : `${changed.length} files`}, restarted ${names.join(', ') || 'nothing'} in ${seconds(performance.now() - since)}`,
    );
  }

  // ------------------------------------------------------------------------------------------------------- tear down

  /** Apps first, while the model and the database are still there to finish with; then the servers. */
  async tearDown() {
    rmSync(this.file('dev.json'), { force: true });
    await Promise.all(this.#apps().map((service) => service.stop()));
    await Promise.all([...this.#services.values()].map((service) => service.stop()));
    await this.servers?.stop();
    rmSync(this.file('children.json'), { force: true });
  }
}

/** An empty variable means "not set", as the configuration of the apps has it. */
const nonEmpty = (env) => Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

async function main() {
  checkNode();
  const dotenv = path.join(root, '.env');
  if (existsSync(dotenv)) process.loadEnvFile(dotenv);

  const stack = new DevelopmentStack();
  let asked;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // npm passes on what the terminal has sent already: only a later one means "at once".
      if (asked && Date.now() - asked > 1_500) process.exit(1);
      if (!asked) say('\nStopping ...');
      asked ??= Date.now();
      stack.requestStop();
    });
  }

  await stack.prepare();
  try {
    await stack.bringUp();
    if (watching && !stack.stopped) stack.watch();
    await stack.untilStop();
  } catch (error) {
    if (!(error instanceof Stopped) && !stack.stopped) throw error;
  } finally {
    await stack.tearDown();
  }
  say('Stopped.');
}

await runMain(main);
process.exit();
