/** What a step of a process does at the floor and at peers: a call of the other side, over connections that are kept. */
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 4_096 });

/** Resolves with the status and the JSON of the other side's answer. */
export function call(url, key, body) {
  return new Promise((resolve, reject) => {
    const payload = Buffer.from(JSON.stringify(body));
    const headers = { 'content-type': 'application/json', 'content-length': payload.length, 'idempotency-key': key };
    const request = http.request(url, { method: 'PUT', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode, json: JSON.parse(text) })).on('error', reject);
    });
    request.on('error', reject).end(payload);
  });
}
