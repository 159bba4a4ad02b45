import { setTimeout as sleep } from 'node:timers/promises';
import { signed } from '@aps/platform/testing';
import { createTransport } from 'nodemailer';
import { ApiClient, type Answer, type Platform } from '../../api-gateway-e2e/support';

export const DOORS = ['webhook', 'mail_hook', 'smtp'] as const;
export type Door = (typeof DOORS)[number];

/** What is sent once, however often its sender tries. */
export interface Sending {
  /** Told apart by it: the subject of a mail, a field of a webhook. */
  key: string;
  door: Door;
  /** What is to become of it, but for an answer: the model wants a human to see it, or somebody terminates it. */
  fate?: 'held' | 'terminated';
  /** Its sender loses the connection first, before it hears whether that was taken. */
  isCut?: boolean;
}

/** Where senders get to the doors. */
export interface Way {
  http: Pick<ApiClient, 'call'>;
  smtpPorts: number[];
}

/** An inbox with a webhook and an address, whose messages the demo agent gets. */
export interface OpenInbox {
  id: string;
  /** `/api/orgs/<org>/inboxes/<inbox>` */
  path: string;
  webhook: { id: string; path: string };
  address: string;
}

/** What a sender is answered. `code` is a status of HTTP or of SMTP, or 0 where there was no answer. */
export interface Told {
  code: number;
  message_id?: string;
  duplicate?: boolean;
}

/** Each is somebody else: nobody is answered ten times an hour. */
const senderOf = (key: string): string => `${key}@example.com`;
/** So long a sender goes on with what nobody takes. */
const PATIENCE_MS = 90_000;
const AGAIN_MS = 100;
const SLOWLY_MS = 700;

export const pathOf = (url: string): string => new URL(url).pathname;

/** Makes an inbox that knows repeats of its webhooks by their `id`. */
export async function openInbox(platform: Platform, slug: string, settings: Record<string, unknown> = {}): Promise<OpenInbox> {
  const inboxes = `/api/orgs/${platform.demo.org_id}/inboxes`;
  const ok = ({ status, body }: Answer): Answer['body'] => {
    if (status >= 300) throw new Error(`Making an inbox answered ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const target = { target_kind: 'agent', target_id: platform.demo.agent_id };
  const made = ok(await platform.call('POST', inboxes, { body: { name: slug, slug, channels: ['webhook', 'email'], ...target } }));
  const [webhook, email] = made.channels as { id: string; webhook_url: string; address: string }[];
  const path = `${inboxes}/${made.id as string}`;
  const config = { dedupe_path: '$.id', subject_path: '$.id', body_path: '$.text' };
  ok(await platform.call('PATCH', path, { body: { settings } }));
  ok(await platform.call('PATCH', `${path}/channels/${webhook.id}`, { body: { config } }));
  return { id: made.id as string, path, webhook: { id: webhook.id, path: pathOf(webhook.webhook_url) }, address: email.address };
}

/** @throws Error where the rules are refused */
export async function putRulesInForce(platform: Platform, { path }: OpenInbox, definition: Record<string, unknown>): Promise<void> {
  const { body } = await platform.call('POST', `${path}/revisions`, { body: { definition } });
  const { status } = await platform.call('POST', `${path}/revisions/${body.id as string}/deploy`);
  if (status !== 200) throw new Error(`Deploying rules answered ${status} ${JSON.stringify(body)}`);
}

/** Sends as programs and mail servers do: again and again until somebody has taken it. Keeps under which ids that was said. */
export class Senders {
  /** More than one id of a key is a mistake. */
  readonly taken = new Map<string, Set<string>>();
  sent = 0;
  /** How often it was said that something is taken. */
  heard = 0;

  constructor(
    private readonly platform: Platform,
    readonly inbox: OpenInbox,
    /** Mail goes to the ports in turn. */
    private readonly way: Way = { http: platform, smtpPorts: [platform.smtpPort] },
    /** On which connections are cut. */
    private readonly lossy = way,
  ) {}

  async send(sending: Sending, way = this.way): Promise<Told> {
    this.sent++;
    const told = await this[sending.door](sending, way).catch((): Told => ({ code: 0 }));
    if (!told.message_id) return told;
    this.heard++;
    this.taken.set(sending.key, (this.taken.get(sending.key) ?? new Set()).add(told.message_id));
    return told;
  }

  /** @throws Error where it is refused, or nobody takes it for long */
  async untilTaken(sending: Sending): Promise<string> {
    if (sending.isCut) await this.send(sending, this.lossy);
    for (const end = Date.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
      const { code, message_id } = await this.send(sending);
      if (message_id) return message_id;
      // 4xx of HTTP and 5xx of SMTP are for good.
      if (sending.door === 'smtp' ? code >= 500 : code >= 400 && code < 500) throw new Error(`${sending.door} refused it: ${code}`);
      if (Date.now() > end) throw new Error(`Nobody takes it by ${sending.door}: ${code}`);
    }
  }

  /** So many at once, in their order. */
  async allTaken(sendings: Sending[], width: number, onTaken: (sending: Sending, id: string) => void = () => undefined): Promise<void> {
    const left = [...sendings];
    const one = async () => {
      for (let next = left.shift(); next; next = left.shift()) onTaken(next, await this.untilTaken(next));
    };
    await Promise.all(Array.from({ length: width }, one));
  }

  private async webhook(sending: Sending, { http }: Way): Promise<Told> {
    const message = { id: sending.key, text: textOf(sending) };
    const { status, body } = await http.call('POST', this.inbox.webhook.path, { as: null, body: message });
    return { code: status, ...(status < 300 && { message_id: body.message_id, duplicate: body.duplicate ?? false }) };
  }

  private async mail_hook(sending: Sending, { http }: Way): Promise<Told> {
    const raw = Buffer.from(mailOf(sending, this.inbox.address)).toString('base64');
    const delivery = { raw, recipients: [this.inbox.address], mail_from: senderOf(sending.key) };
    const secret = this.platform.env.INBOUND_EMAIL_SECRET_GENERIC;
    const { body: text, headers } = signed(delivery, { secret });
    const { status, body } = await http.call('POST', '/api/hooks/email/generic', { as: null, body: text, headers });
    return { code: status, ...(status < 300 && { message_id: body.messages[0].message_id }) };
  }

  private smtp(sending: Sending, { smtpPorts }: Way): Promise<Told> {
    const port = smtpPorts[this.sent % smtpPorts.length];
    return mailTo(port, { from: senderOf(sending.key), to: this.inbox.address, raw: mailOf(sending, this.inbox.address) });
  }
}

/** Mails by SMTP, as the mail server of its sender does. */
export async function mailTo(port: number, { from, to, raw }: { from: string; to: string; raw: string }): Promise<Told> {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port, ignoreTLS: true },
    ...{ connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 30_000 },
  });
  try {
    const { response } = (await transport.sendMail({ envelope: { from, to }, raw })) as { response: string };
    return { code: Number(response.slice(0, 3)), message_id: / as (\S+)$/.exec(response)?.[1] };
  } catch (error) {
    return { code: (error as { responseCode?: number }).responseCode ?? 0 };
  }
}

/** With what a model that is to classify it answers; one that is to be terminated is answered slowly. */
function textOf({ key, fate }: Sending): string {
  const label = fate === 'held' ? 'unclear' : 'order';
  const block = (kind: string, content: unknown) => ['```' + kind, JSON.stringify(content), '```'];
  const slowly = fate === 'terminated' ? block('mock', { steps: [{ text: `Slowly to ${key}`, delay_ms: SLOWLY_MS }] }) : [];
  return [`This is ${key}.`, ...block('json', { label, confidence: 0.9 }), ...slowly].join('\n');
}

const mailOf = (sending: Sending, to: string): string => {
  const { key } = sending;
  const head = [`From: Ann <${senderOf(key)}>`, `To: ${to}`, `Subject: ${key}`, `Message-ID: <${key}@example.com>`];
  return [...head, '', ...textOf(sending).split('\n'), ''].join('\r\n');
};
