import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

/** What a process says first: it has what it was told meanwhile, and begins. */
export const LISTENING = 'listening';

/**
 * What the module of a `ParserChild` does first: from then on nothing in it opens a connection or asks the DNS, and it ends with its parent.
 *
 * @returns tells the parent
 */
export function serveParent<To, From>(hear: (message: To) => void): (said: From) => void {
  const refuse = () => {
    throw new Error('There is no network here');
  };
  Object.assign(net.Socket.prototype, { connect: refuse });
  Object.assign(net.Server.prototype, { listen: refuse });
  Object.assign(dgram.Socket.prototype, { bind: refuse, connect: refuse, send: refuse });
  for (const [asks, name] of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype].flatMap((all) =>
    Object.getOwnPropertyNames(all)
      .filter((each) => /^(lookup|resolve|reverse)/.test(each))
      .map((each) => [all, each] as const),
  ))
    Object.assign(asks, { [name]: refuse });
  process.on('message', hear).on('disconnect', () => process.exit());
  process.send!(LISTENING);
  return (said) => void process.send!(said);
}
