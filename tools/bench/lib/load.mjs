/**
 * Repeats one GET over kept connections, in a process of its own: `node load.mjs '{"url", "token", "connections", "ms"}'`.
 * It reads no more of an answer than its status and where it ends, so that it costs less than what it measures.
 */
import { spawn } from 'node:child_process';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { quantile } from './measure.mjs';

/** @returns {Promise<{ rate: number, p50: number, count: number, failed: number }>} */
export function load(options) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (piece) => (text += piece));
  return new Promise((resolve, reject) =>
    child.once('close', (code) => (code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`The load ended with ${code}`)))),
  );
}

class Connection {
  #head = '';
  /** Bytes of the answer that are still to come; unknown until its head is there. */
  #left = NaN;

  constructor(url, token, until, took) {
    Object.assign(this, { url, until, took, failed: 0 });
    this.request = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`;
  }

  run() {
    return new Promise((resolve, reject) => {
      this.socket = net.connect({ port: Number(this.url.port), host: this.url.hostname, noDelay: true }, () => this.#ask());
      this.socket.setEncoding('latin1').on('data', (piece) => this.#take(piece));
      this.socket.once('error', reject).once('close', () => resolve(this));
    });
  }

  #ask() {
    this.since = performance.now();
    this.socket.write(this.request);
  }

  #take(piece) {
    this.#left -= piece.length;
    if (Number.isNaN(this.#left)) {
      this.#head += piece;
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#left = end + 4 + Number(/content-length: (\d+)/i.exec(this.#head.slice(0, end))[1]) - this.#head.length;
      if (!this.#head.startsWith('HTTP/1.1 200')) this.failed++;
      this.#head = '';
    }
    if (this.#left > 0) return;
    this.#left = NaN;
    const now = performance.now();
    this.took.push(now - this.since);
    if (now < this.until) this.#ask();
    else this.socket.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, token, connections, ms } = JSON.parse(process.argv[2]);
  const took = [];
  const began = performance.now();
  const all = await Promise.all(Array.from({ length: connections }, () => new Connection(new URL(url), token, began + ms, took).run()));
  const failed = all.reduce((sum, connection) => sum + connection.failed, 0);
  console.log(
    JSON.stringify({ count: took.length, rate: (took.length * 1_000) / (performance.now() - began), p50: quantile(took, 0.5), failed }),
  );
}
