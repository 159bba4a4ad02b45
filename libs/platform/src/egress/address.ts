import ipaddr from 'ipaddr.js';

/** Everything that is routed on the public internet as IPv6 lies in here today; the rest is special or not given out. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * What clouds answer to their machines alone, at addresses that look like any other. Everything else of the kind (169.254.169.254,
 * 100.100.100.200, fd00:ec2::254 …) is no ordinary address anyway.
 */
const CLOUD_RANGES: [ipaddr.IPv4, number][] = [
  ipaddr.IPv4.parseCIDR('168.63.129.16/32'), // Azure: machine configuration, DNS, health probes
  ipaddr.IPv4.parseCIDR('161.26.0.0/16'), // IBM: infrastructure services
  ipaddr.IPv4.parseCIDR('166.8.0.0/14'), // IBM: service endpoints
];

/** Names that only clouds resolve, and only for their machines; not all of them end in `.internal`. */
const CLOUD_NAMES = new Set(['metadata.goog', 'metadata.tencentyun.com', 'metadata.packet.net', 'metadata.platformequinix.com']);

/** Endings that mean something within one network, and a different thing, or nothing, in the next (RFC 2606, 6761, 6762, 8375). */
const INNER_ENDING = /(?:^|\.)(?:internal|local|localhost|localdomain|lan|home\.arpa|test|invalid)$/;

/** Whether a host name belongs to the inside of a network, whatever it resolves to. A single label is completed by search domains. */
export function isInnerName(name: string): boolean {
  return !name.includes('.') || INNER_ENDING.test(name) || CLOUD_NAMES.has(name);
}

/**
 * Whether an IP address is an ordinary one of the public internet. Addresses that carry an IPv4 address inside (NAT64, 6to4,
 * Teredo, IPv4-compatible) are not: what they lead to is decided elsewhere.
 */
export function isPublicAddress(address: string): boolean {
  // A zone (fe80::1%eth0) only makes sense for addresses that are not public.
  if (address.includes('%')) return false;
  let parsed: ipaddr.IPv4 | ipaddr.IPv6;
  try {
    // Turns an IPv4-mapped address into the IPv4 address that it is.
    parsed = ipaddr.process(address);
  } catch {
    return false;
  }
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return (parsed as ipaddr.IPv6).match(GLOBAL_IPV6);
  return !CLOUD_RANGES.some((range) => (parsed as ipaddr.IPv4).match(range));
}

/** The one spelling of an address, for comparing what was checked with what was reached. */
export function canonicalAddress(address: string): string {
  try {
    return ipaddr.process(address).toString();
  } catch {
    return address;
  }
}

/** A URL's host without the brackets of an IPv6 literal and without the dot that ends a full name. */
export function bareHost(hostname: string): string {
  const unwrapped = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return unwrapped.replace(/\.$/, '').toLowerCase();
}

/** How a host and port are compared with the allow-list. */
export function hostKey(hostname: string, port: number): string {
  return `${bareHost(hostname)} ${port}`;
}

/** White space, control characters and backslashes, which one parser drops and the next takes for the end of the host. */
const DISPUTED = /[\s\u0000-\u001f\u007f-\u009f\\]/;

/**
 * What a text says as a URL; undefined where it is none. `URL.canParse` is not asked: once V8 has made it fast, that of Node 20 takes no address
 * with letters beyond ASCII for one.
 */
export function urlOf(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Reads a URL as somebody wrote it. None where parsers disagree, so that nobody who reads it elsewhere sees another host. */
export function readUrl(written: string): URL | undefined {
  return DISPUTED.test(written) ? undefined : urlOf(written);
}
