import type { IncomingHttpHeaders } from 'node:http';
import { safeFilename } from '@aps/files';
import { storable } from '@aps/platform/database';
import type { ChannelConfig, IncomingMessage } from '../intake.port';
import { cutText, keptHeaders, keyOf, lineOf, MAX_TEXT } from '../text.policy';
import { readBody } from './body.policy';
import { pick } from '../../channels/json-path';
import { prettyJson } from './pretty';

/** Headers that name a delivery; the first one that is there counts. */
const DELIVERY_IDS = ['webhook-id', 'x-github-delivery', 'x-event-id', 'idempotency-key'];

/** Where a scheme’s bodies name themselves. */
const BODY_IDS: Record<string, string | undefined> = { stripe: '$.id', slack: '$.event_id' };

/** A webhook as a message: what stands where its channel's paths say. */
export async function readWebhook(config: ChannelConfig, headers: IncomingHttpHeaders, body: Buffer): Promise<IncomingMessage> {
  const { payload, text, files } = await readBody(headers['content-type'] ?? '', body);
  const { sender_path, subject_path, body_path, dedupe_path, thread_path, signature } = config;
  const picked = pick(payload, {
    ...{ sender: sender_path, subject: subject_path, body: body_path, dedupe: dedupe_path, thread: thread_path },
    id: BODY_IDS[signature?.scheme ?? ''],
  });
  const sender = lineOf(scalar(picked.sender));
  const thread = keyOf(scalar(picked.thread));
  return {
    sender: sender === null ? null : { address: sender, name: null },
    subject: lineOf(scalar(picked.subject)),
    body_text: cutText(written(picked.body) ?? text ?? written(payload) ?? ''),
    headers: keptHeaders(pairsOf(headers), signature?.header?.toLowerCase()),
    payload: storable(payload ?? null),
    auth: null,
    size_bytes: body.length,
    message_id: null,
    references: thread === null ? [] : [thread],
    participants: [],
    dedupe_key: keyOf(scalar(picked.dedupe)) ?? keyOf(deliveryId(headers)) ?? keyOf(scalar(picked.id)),
    automatic: null,
    reply_to: null,
    files: files.map(({ filename, content }) => ({ filename: safeFilename(filename), content })),
  };
}

/** What the provider of a signed challenge wants to hear; null where it is none. */
export async function challengeOf({ signature }: ChannelConfig, headers: IncomingHttpHeaders, body: Buffer): Promise<string | null> {
  if (signature?.scheme !== 'slack') return null;
  const { type, challenge } = pick((await readBody(headers['content-type'] ?? '', body)).payload, {
    type: '$.type',
    challenge: '$.challenge',
  });
  return type === 'url_verification' && typeof challenge === 'string' ? challenge : null;
}

/** A value that can be a name; lists and objects are none. */
const scalar = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;

/** A value as people read it. @returns undefined where there is none */
const written = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : (scalar(value) ?? prettyJson(value, MAX_TEXT + 1));

const deliveryId = (headers: IncomingHttpHeaders): string | undefined =>
  DELIVERY_IDS.map((name) => headers[name]).find((value): value is string => typeof value === 'string' && value !== '');

const pairsOf = (headers: IncomingHttpHeaders): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
