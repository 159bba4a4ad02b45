/**
 * The first things a newcomer sees: a message to the demo agent through the public API, and its reply as it is written; then a mail to the
 * demo inbox, what its rules made of it, and what the agent answered; then one that begins a process, which waits for the newcomer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError, say, seconds, stream } from './console.mjs';

const QUESTION = 'Hello! What can you do?';
const MAIL = { from: 'Ann <ann@example.com>', subject: 'Urgent: order 7', text: 'My order has not arrived. Where is it?' };
const REFUND = { from: 'Ben <ben@example.com>', subject: 'Broken', text: 'It came broken, please refund it.\norder: 8\namount: 240' };
const POLL_MS = 100;

/** What all demos do their asking by, within a minute. */
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
  const read = async (url) => (await call(url)).json();
  return { org: `${base}/api/orgs/${org}`, chats: `${base}/api/orgs/${org}/agents/${agent}/chats`, call, read, until };
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
  const { chats, read, until } = asking(stack, signal);
  const since = performance.now();
  const { url, message } = await mailAndSettle(stack, stack.inbox, MAIL, signal);
  const gates = message.trace.filter(({ kind }) => kind === 'gate').length;
  const stages = message.trace.filter(({ kind }) => kind !== 'gate').map((row) => `${row.stage_id}: ${row.outcome}`);
  const tags = message.tags.length ? `, tagged ${message.tags.join(', ')}` : '';
  say(`  rules  ${gates} gates, then ${stages.join(', ')}`);
  say(`         ${message.state}${tags}, in ${seconds(performance.now() - since)}`);
  await until(async () => (await read(url)).reply.state === 'sent');
  const chat = await read(`${chats}/${message.dispatched.chat_id}`);
  say(`  agent  ${chat.messages.findLast(({ role }) => role === 'assistant').content.replace(/\n(?=.)/g, '\n         ')}`);
  say(`         mailed to ${message.sender.address}, as ${stack.mail_dir} shows`);
}

/** @param {{ process: { id: string, inbox: { id: string, address: string } } }} stack what dev.json holds, as above */
export async function demoProcess(stack, signal) {
  const { org, read, until } = asking(stack, signal);
  const { message } = await mailAndSettle(stack, stack.process.inbox, REFUND, signal);
  const url = `${org}/processes/${stack.process.id}/runs/${message.dispatched.run_id}`;
  const shown = new Set();
  /** Each step once it has begun, and once it is over. */
  const show = ({ id, path, kind, status, output }) => {
    if (['pending', 'running'].includes(status) || shown.has(`${id} ${status}`)) return;
    shown.add(`${id} ${status}`);
    say(
      `  ${shown.size === 1 ? 'run  ' : '     '}  ${path} (${kind}) ${status}${status === 'completed' ? `: ${JSON.stringify(output)}` : ''}`,
    );
  };
  const step = await until(async () => {
    const run = await read(url);
    run.steps.forEach(show);
    if (run.error) throw new UserError(`the run failed: ${run.error.message}`);
    return run.steps.find(({ status, hitl_request_id }) => status === 'waiting' && hitl_request_id);
  });
  const { prompt } = await read(`${org}/hitl-requests/${step.hitl_request_id}`);
  say(`  asks   ${prompt} It waits for your answer, which is mailed to ${message.sender.address} then:`);
  const json = `-H 'Content-Type: application/json' -d '{"decision":"approve"}'`;
  say(`\n  curl -s -H 'Authorization: Bearer ${stack.api_token}' ${json} ${org}/hitl-requests/${step.hitl_request_id}/answer`);
}

/** Mails to an inbox, and waits until its rules have let that in. */
async function mailAndSettle(stack, inbox, mail, signal) {
  const { org, read, until } = asking(stack, signal);
  say(`\n  mail   to ${inbox.address}: ${mail.subject}. ${mail.text.replaceAll('\n', ' ')}`);
  const url = `${org}/inboxes/${inbox.id}/messages/${await sendMail(stack, { ...mail, to: inbox.address })}`;
  const message = await until(async () => {
    const now = await read(url);
    return now.evaluation_state === 'settled' && now;
  });
  if (!message.dispatched) throw new UserError(`nobody has the mail: it is ${message.hold_reason ?? message.state}`);
  return { url, message };
}

/** @returns the id of the message that it has become */
async function sendMail({ smtp }, mail) {
  const { createTransport } = await import('nodemailer');
  const limits = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 30_000 };
  const transport = createTransport({ ...smtp, ...limits, ignoreTLS: true });
  const { response } = await transport.sendMail(mail).catch((error) => {
    throw new UserError(`${smtp.host}:${smtp.port} did not take the mail: ${error.response ?? error.message}`);
  });
  const [, id] = /^250 Taken as ([0-9a-f-]{36})/.exec(response) ?? [];
  if (!id) throw new UserError(`${smtp.host}:${smtp.port} answered the mail with ${response}`);
  return id;
}
