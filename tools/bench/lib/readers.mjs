/**
 * Opens event streams and reads them, in a process of its own. Told by messages: `{token}` first; `{open: urls}` is answered when each
 * has brought its first frame; `{mark, readers}` is answered by the times at which so many readers had a frame with that text.
 */
import http from 'node:http';

/** Streams that are being opened at once. */
const OPENERS = 16;
let token;
let wanted;

/** Keeps nothing of what it reads but an unfinished tail, so that it costs less than what it measures. */
function listen(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`A stream answered ${response.statusCode}`));
      response.on('data', (piece) => {
        resolve();
        if (wanted && piece.includes(wanted.mark)) told();
      });
      response.on('close', () => fail(new Error('A stream ended.')));
    });
    request.on('error', reject);
  });
}

function told() {
  wanted.times.push(performance.timeOrigin + performance.now());
  if (wanted.times.length < wanted.readers) return;
  process.send({ times: wanted.times });
  wanted = undefined;
}

const fail = (error) => process.send({ error: error.message });

async function openAll(urls) {
  const queue = urls.values();
  await Promise.all(
    Array.from({ length: OPENERS }, async () => {
      for (const url of queue) await listen(url);
    }),
  );
  process.send({ opened: urls.length });
}

process.on('message', (message) => {
  if (message.token) {
    ({ token } = message);
    process.send({ ready: true });
  } else if (message.open) {
    openAll(message.open).catch(fail);
  } else {
    wanted = { ...message, times: [] };
  }
});
process.on('disconnect', () => process.exit());
