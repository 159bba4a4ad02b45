/** The first thing a newcomer sees: a message to the demo agent through the public API, and its reply as it is written. */
import { UserError, say, stream } from './console.mjs';

const QUESTION = 'Hello! What can you do?';

/** @param {{ base_url: string, org_id: string, agent_id: string, api_token: string }} stack what dev.json holds */
export async function demoTurn({ base_url: base, org_id: org, agent_id: agent, api_token: token }, signal) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  const chats = `${base}/api/orgs/${org}/agents/${agent}/chats`;
  const call = async (url, body) => {
    const response = await fetch(url, { headers, signal: timeout, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    if (!response.ok)
      throw new UserError(
        `${body ? 'POST' : 'GET'} ${new URL(url).pathname} answered ${response.status} ${(await response.text()).slice(0, 300)}`,
      );
    return response;
  };

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
