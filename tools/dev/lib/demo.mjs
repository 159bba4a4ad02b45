/**
 * The first things a newcomer sees: a message to the demo agent through the public API, and its reply as it is written; then a mail to the
 * demo inbox, what its rules made of it, and what the agent answered.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError, say, seconds, stream } from './console.mjs';

const QUESTION = 'Hello! What can you do?';
const MAIL = { from: 'Ann <ann@example.com>', subject: 'Urgent: order 7', text: 'My order has not arrived. Where is it?' };
const POLL_MS = 100;

/** What both demos do their asking by, within a minute. */
function asking({ base_url: base, org_id: org, agent_id: agent, api_token: token }, signal) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  const call = async (url, body) => {
    const response = await fetch(url, { headers, signal: timeout, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    if (!response.ok)
      throw new UserError(
        `${body ? 'POST' : 'GET'} ${new URL(url).pathname} answered ${response.status} ${(await response.text()).slice(0, 300)}`,
      );
    return response;
  };
  /** Asks until there is an answer. */
  const until = async (probe) => {
    for (;;) {
      timeout.throwIfAborted();
      const answer = await probe();
      if (answer) return answer;
      await sleep(POLL_MS);
    }
  };
  return { chats: `${base}/api/orgs/${org}/agents/${agent}/chats`, inboxes: `${base}/api/orgs/${org}/inboxes`, call, until };
}

/** @param {{ base_url: string, org_id: string, agent_id: string, api_token: string }} stack what dev.json holds */
export async function demoTurn(stack, signal) {
  const { chats, call } = asking(stack, signal);
  const { id } = await (await call(chats, { title: 'First conversation' })).json();
  // Listening before asking: text deltas are not kept for those who come late.
  const events = await call(`${chats}/${id}/stream`);
  await call(`${chats}/${id}/messages`, { content: QUESTION });

  say(`\n  you    ${QUESTION}`);
  stream('  agent  ');
  await printReply(events.body);
}

async function printReply(body) {
  const { EventSourceParserStream } = await import('eventsource-parser/stream');
  let printed = false;
  for await (const event of body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())) {
    const { data } = JSON.parse(event.data);
    if (event.event === 'message_delta') {
      stream(data.text);
      printed = true;
    } else if (event.event === 'message_completed') {
      if (!printed) stream(String(data.content ?? data.text ?? ''));
      return;
    } else if (event.event === 'status_changed' && data.to === 'ERRORED') {
      throw new UserError(`the turn failed: ${data.error?.message ?? data.stop_reason ?? 'no reason given'}`);
    }
  }
  throw new UserError('the stream ended before the reply was complete');
}

/** @param {{ smtp: { host: string, port: number }, inbox: { id: string, address: string } }} stack what dev.json holds, as above */
export async function demoMail(stack, signal) {
  const { chats, inboxes, call, until } = asking(stack, signal);
  const since = performance.now();
  say(`\n  mail   to ${stack.inbox.address}: ${MAIL.subject}. ${MAIL.text}`);
  const url = `${inboxes}/${stack.inbox.id}/messages/${await sendMail(stack)}`;
  const now = async () => (await call(url)).json();
  const message = await until(async () => {
    const read = await now();
    return read.evaluation_state === 'settled' && read;
  });
  const gates = message.trace.filter(({ kind }) => kind === 'gate').length;
  const stages = message.trace.filter(({ kind }) => kind !== 'gate').map((row) => `${row.stage_id}: ${row.outcome}`);
  const tags = message.tags.length ? `, tagged ${message.tags.join(', ')}` : '';
  say(`  rules  ${gates} gates, then ${stages.join(', ')}`);
  say(`         ${message.state}${tags}, in ${seconds(performance.now() - since)}`);
  if (!message.dispatched) throw new UserError(`no agent has the mail: it is ${message.hold_reason ?? message.state}`);
  await until(async () => (await now()).reply.state === 'sent');
  const chat = await (await call(`${chats}/${message.dispatched.chat_id}`)).json();
  say(`  agent  ${chat.messages.findLast(({ role }) => role === 'assistant').content.replace(/\n(?=.)/g, '\n         ')}`);
  say(`         mailed to ${message.sender.address}, as ${stack.mail_dir} shows`);
}

/** @returns the id of the message that it has become */
async function sendMail({ smtp, inbox }) {
  const { createTransport } = await import('nodemailer');
  const limits = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 30_000 };
  const transport = createTransport({ ...smtp, ...limits, ignoreTLS: true });
  const { response } = await transport.sendMail({ ...MAIL, to: inbox.address }).catch((error) => {
    throw new UserError(`${smtp.host}:${smtp.port} did not take the mail: ${error.response ?? error.message}`);
  });
  const [, id] = /^250 Taken as ([0-9a-f-]{36})/.exec(response) ?? [];
  if (!id) throw new UserError(`${smtp.host}:${smtp.port} answered the mail with ${response}`);
  return id;
}
