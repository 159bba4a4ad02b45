/** The clients of the benchmark: JSON requests over kept connections, and readers of event streams. */
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 4_096, maxFreeSockets: 4_096 });
const LIMIT_MS = 60_000;

/** Sends a request and resolves with its response, whose body is still to be read. */
function open(url, { method = 'GET', token, body, own = false }) {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
    };
    const request = http.request(url, { method, headers, agent: own ? false : agent }, (response) => resolve({ request, response }));
    request.on('error', reject);
    request.end(payload);
  });
}

/** @returns {Promise<any>} the answer's JSON; anything but 2xx throws */
export async function call(url, options = {}) {
  const { response } = await open(url, options);
  const text = await new Promise((resolve, reject) => {
    let all = '';
    response
      .setEncoding('utf8')
      .on('data', (piece) => (all += piece))
      .on('end', () => resolve(all))
      .on('error', reject);
  });
  if (response.statusCode >= 300)
    throw new Error(`${options.method ?? 'GET'} ${new URL(url).pathname} answered ${response.statusCode} ${text.slice(0, 300)}`);
  return text && JSON.parse(text);
}

/** Sends a body as it is. @returns {Promise<number>} the status, once the answer is there */
export function post(url, headers, body) {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(body) } };
    const request = http.request(url, options, (response) =>
      response
        .resume()
        .on('end', () => resolve(response.statusCode))
        .on('error', reject),
    );
    request.on('error', reject);
    request.end(body);
  });
}

/**
 * Takes an answer as fast as it comes, and keeps no more of it than its end.
 *
 * @param {{ token?: string, signal?: AbortSignal }} options
 * @returns {Promise<{ bytes: number, end: string }>} what came before it was aborted
 */
export async function download(url, { token, signal }) {
  const { request, response } = await open(url, { token, own: true });
  signal?.addEventListener('abort', () => request.destroy());
  let bytes = 0;
  let end = '';
  response.on('data', (piece) => {
    bytes += piece.length;
    end = piece.subarray(-200).toString('latin1');
  });
  return new Promise((resolve, reject) => {
    response.on('end', () => resolve({ bytes, end }));
    response.on('error', (error) => (signal?.aborted ? resolve({ bytes, end }) : reject(error)));
  });
}

/** An open event stream. Waits end with the first frame of one of the wanted events that came after the wait began. */
export class EventStream {
  #buffer = '';
  #waiting;
  onEvent;

  /** @param {{ token?: string, method?: string, body?: unknown, own?: boolean, onEvent?: (event: string) => void }} options */
  static async open(url, options) {
    const stream = new EventStream();
    stream.onEvent = options.onEvent;
    const { request, response } = await open(url, options);
    if (response.statusCode !== 200) throw new Error(`${new URL(url).pathname} answered ${response.statusCode}`);
    stream.request = request;
    response.setEncoding('utf8').on('data', (text) => stream.#take(text));
    response.on('close', () => stream.#end()).on('error', () => stream.#end());
    return stream;
  }

  #take(text) {
    this.#buffer += text;
    for (let end; (end = this.#buffer.indexOf('\n\n')) >= 0; this.#buffer = this.#buffer.slice(end + 2)) {
      if (!this.#buffer.startsWith('event: ')) continue;
      const event = this.#buffer.slice(7, this.#buffer.indexOf('\n'));
      this.onEvent?.(event);
      if (this.#waiting?.event === event) this.#settle((waiting) => waiting.resolve());
    }
  }

  #settle(how) {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.late);
    if (waiting) how(waiting);
  }

  #end() {
    this.#settle((waiting) => waiting.reject(new Error(`The stream ended before ${waiting.event}`)));
  }

  until(event) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#settle(() => reject(new Error(`No ${event} within ${LIMIT_MS / 1_000} s`))), LIMIT_MS);
      this.#waiting = { event, resolve, reject, late };
    });
  }

  close() {
    this.#waiting = undefined;
    this.request.on('error', () => {});
    this.request.destroy();
  }
}
