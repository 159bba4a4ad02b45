/**
 * The fallback Redis as a process of its own: `node js-redis.mjs <port>`. The package listens on every interface and has
 * no option for it, so a listen on a lone port is turned into one on 127.0.0.1 while its server starts.
 */
import net from 'node:net';
import { createRedisMock } from 'js-redis-server';

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function listenLocally(port, ...rest) {
  return typeof port === 'number' ? listen.call(this, { port, host: '127.0.0.1' }, ...rest) : listen.call(this, port, ...rest);
};
const server = await createRedisMock({ port: Number(process.argv[2]) });
net.Server.prototype.listen = listen;

for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
console.log(`ready on ${server.host}:${server.port}`);
