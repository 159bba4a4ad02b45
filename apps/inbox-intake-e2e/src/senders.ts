import { setTimeout as sleep } from 'node:timers/promises';
import { signed } from '@aps/platform/testing';
import { createTransport } from 'nodemailer';
import type { Answer, Platform } from '../../api-gateway-e2e/support';

export const DOORS = ['webhook', 'mail_hook', 'smtp'] as const;
export type Door = (typeof DOORS)[number];

/** What is sent once, however often its sender tries. */
export interface Sending {
  /** Told apart by it: the subject of a mail, a field of a webhook. */
  key: string;
  door: Door;
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

const SENDER = 'ann@example.com';
/** So long a sender goes on with what nobody takes. */
const PATIENCE_MS = 90_000;
const AGAIN_MS = 100;

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

  constructor(
    private readonly platform: Platform,
    readonly inbox: OpenInbox,
    /** Where mail goes to, in turn. */
    private readonly smtpPorts = [platform.smtpPort],
  ) {}

  async send(sending: Sending): Promise<Told> {
    this.sent++;
    const told = await this[sending.door](sending.key).catch((): Told => ({ code: 0 }));
    if (told.message_id) this.taken.set(sending.key, (this.taken.get(sending.key) ?? new Set()).add(told.message_id));
    return told;
  }

  /** @throws Error where it is refused, or nobody takes it for long */
  async untilTaken(sending: Sending): Promise<string> {
    for (const end = Date.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
      const { code, message_id } = await this.send(sending);
      if (message_id) return message_id;
      // 4xx of HTTP and 5xx of SMTP are for good.
      if (sending.door === 'smtp' ? code >= 500 : code >= 400 && code < 500) throw new Error(`${sending.door} refused it: ${code}`);
      if (Date.now() > end) throw new Error(`Nobody takes it by ${sending.door}: ${code}`);
    }
  }

  /** So many at once, in their order. */
  async allTaken(sendings: Sending[], width: number): Promise<void> {
    const left = [...sendings];
    const one = async () => {
      for (let next = left.shift(); next; next = left.shift()) await this.untilTaken(next);
    };
    await Promise.all(Array.from({ length: width }, one));
  }

  private async webhook(key: string): Promise<Told> {
    const { status, body } = await this.platform.call('POST', this.inbox.webhook.path, { as: null, body: { id: key, text: textOf(key) } });
    return { code: status, ...(status < 300 && { message_id: body.message_id, duplicate: body.duplicate ?? false }) };
  }

  private async mail_hook(key: string): Promise<Told> {
    const raw = Buffer.from(mailOf(key, this.inbox.address)).toString('base64');
    const delivery = { raw, recipients: [this.inbox.address], mail_from: SENDER };
    const secret = this.platform.env.INBOUND_EMAIL_SECRET_GENERIC;
    const { body: text, headers } = signed(delivery, { secret });
    const { status, body } = await this.platform.call('POST', '/api/hooks/email/generic', { as: null, body: text, headers });
    return { code: status, ...(status < 300 && { message_id: body.messages[0].message_id }) };
  }

  private smtp(key: string): Promise<Told> {
    const port = this.smtpPorts[this.sent % this.smtpPorts.length];
    return mailTo(port, { from: SENDER, to: this.inbox.address, raw: mailOf(key, this.inbox.address) });
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

/** With what a model that is to classify it answers. */
const textOf = (key: string): string => `This is ${key}.\n\`\`\`json\n{"label":"order","confidence":0.9}\n\`\`\``;
const mailOf = (key: string, to: string): string =>
  [`From: Ann <${SENDER}>`, `To: ${to}`, `Subject: ${key}`, `Message-ID: <${key}@example.com>`, '', ...textOf(key).split('\n'), ''].join(
    '\r\n',
  );
