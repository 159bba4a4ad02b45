import ipaddr from 'ipaddr.js';

/** Everything that is routed on the public internet as IPv6 lies in here today; the rest is special or not given out. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

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
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_IPV6);
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
