/**
 * The two systems as the sections use them: `start`, `stop`, the `pids` of gateway and worker, `newChat` and `turn`. A chat is whatever
 * the system needs to know about it.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { appMain } from '../../dev/lib/paths.mjs';
import { freePort } from '../../dev/lib/processes.mjs';
import { Child } from './children.mjs';
import { EventStream, call } from './client.mjs';

const floorFile = (name) => fileURLToPath(new URL(`../floor/${name}.mjs`, import.meta.url));
const MAKERS = 16;

class System {
  #up;

  /** Starts gateway and worker, once. */
  start() {
    return (this.#up ??= (async () => {
      this.children = await this.makeChildren();
      await Promise.all(this.children.map((child) => child.start()));
      return this;
    })());
  }

  async stop() {
    if (!this.#up) return;
    await this.#up;
    this.#up = undefined;
    await Promise.all(this.children.map((child) => child.stop()));
  }

  get pids() {
    return this.children.map(({ pid }) => pid);
  }

  /** Chats without messages, each with its event stream open if the system has one and it is wanted. */
  async newChats(count, { listening = false } = {}) {
    const chats = [];
    let left = count;
    await Promise.all(
      Array.from({ length: MAKERS }, async () => {
        while (left-- > 0) {
          const chat = await this.newChat();
          if (listening) await this.listen?.(chat);
          chats.push(chat);
        }
      }),
    );
    return chats;
  }

  forget(chats) {
    for (const { stream } of chats) stream?.close();
  }
}

/** The least that does a durable turn; see tools/bench/floor. */
export class Floor extends System {
  constructor({ dir, env, floorUrl, modelUrl }) {
    super();
    this.env = { ...env, DATABASE_URL: floorUrl, MODEL_URL: modelUrl };
    this.dir = dir;
  }

  async makeChildren() {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const child = (name) => new Child(`floor-${name}`, { file: floorFile(name), dir: this.dir, env: { ...this.env, PORT: String(port) } });
    return [child('gateway'), child('worker')];
  }

  async newChat() {
    return { id: randomUUID() };
  }

  /** The answer to the message is the stream of its turn. */
  async turn(chat, text, onText) {
    const stream = await EventStream.open(`${this.url}/turn`, {
      method: 'POST',
      body: { chat: chat.id, text },
      onEvent: onText && ((event) => event === 'text' && onText()),
    });
    await stream.until('done');
  }
}

export class Product extends System {
  /** @param options.admin with what operators call, too; `billing`: and with what takes deliveries in; `intake`: and messages; `processes`: and with what runs those */
  constructor({ dir, env, seed }, { profileDir, admin = false, billing = false, intake = false, processes = false } = {}) {
    super();
    Object.assign(this, { dir, seed, admin, billing, intake, processes });
    this.env = env;
    this.flags = profileDir ? ['--cpu-prof', '--cpu-prof-dir', path.resolve(profileDir)] : [];
  }

  async makeChildren() {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    this.chatsUrl = this.chatsOf(this.seed.agent_id);
    const adminPort = this.admin && (await freePort());
    if (this.admin) this.env = { ...this.env, ADMIN_API_URL: `http://127.0.0.1:${adminPort}` };
    const billingPort = this.billing && (await freePort());
    if (this.billing) this.env = { ...this.env, BILLING_WEBHOOKS_URL: (this.billingUrl = `http://127.0.0.1:${billingPort}`) };
    const intakePort = this.intake && (await freePort());
    if (this.intake) {
      this.smtpPort = await freePort();
      this.intakeUrl = `http://127.0.0.1:${intakePort}`;
      this.env = {
        ...this.env,
        INBOX_INTAKE_URL: this.intakeUrl,
        SMTP_LISTEN_PORT: String(this.smtpPort),
        SMTP_CONNECTIONS_PER_ADDRESS: '100',
      };
    }
    const apps = [await this.app('api-gateway', port), await this.app('chat-worker')];
    if (this.processes) apps.push(await this.app('process-engine'));
    if (this.admin) apps.push(await this.app('admin-api', adminPort));
    if (this.billing) apps.push(await this.app('billing-webhooks', billingPort));
    if (this.intake) apps.push(await this.app('inbox-intake', intakePort));
    return apps;
  }

  async app(name, port) {
    const internal = await freePort();
    const env = {
      ...this.env,
      APP_URL: this.url,
      HOST: '127.0.0.1',
      PORT: String(port ?? (await freePort())),
      INTERNAL_PORT: String(internal),
    };
    return new Child(name, { file: appMain(name), dir: this.dir, env, flags: this.flags, readyUrl: `http://127.0.0.1:${internal}/readyz` });
  }

  /** Of billing-webhooks. */
  get billingPid() {
    return this.pids.at(-1);
  }

  /** Of inbox-intake. */
  get intakePid() {
    return this.pids.at(-1);
  }

  get enginePid() {
    return this.children.find(({ name }) => name === 'process-engine').pid;
  }

  chatsOf(agentId) {
    return `${this.url}/api/orgs/${this.seed.org_id}/agents/${agentId}/chats`;
  }

  call(url, options) {
    return call(url, { token: this.seed.api_token, ...options });
  }

  /** With a title, so that no title is asked of the model. */
  async newChat(chatsUrl = this.chatsUrl, settings = {}) {
    const { id } = await this.call(chatsUrl, { method: 'POST', body: { title: 'Bench', ...settings } });
    return { id };
  }

  /** Opens the chat's stream and waits until it has said where the chat stands. */
  async listen(chat) {
    let began;
    const snapshot = new Promise((resolve) => (began = resolve));
    chat.stream = await EventStream.open(`${chat.url ?? this.chatsUrl}/${chat.id}/stream`, {
      token: this.seed.api_token,
      own: true,
      onEvent: (event) => event === 'snapshot' && began(),
    });
    await snapshot;
  }

  /** A chat that nobody listens to gets a stream for this turn alone. */
  async turn(chat, text, onText) {
    const forThis = !chat.stream;
    if (forThis) await this.listen(chat);
    chat.stream.onEvent = onText && ((event) => event === 'message_delta' && onText());
    await Promise.all([
      chat.stream.until('message_completed'),
      this.call(`${chat.url ?? this.chatsUrl}/${chat.id}/messages`, { method: 'POST', body: { content: text } }),
    ]);
    if (!forThis) return;
    chat.stream.close();
    chat.stream = undefined;
  }
}
