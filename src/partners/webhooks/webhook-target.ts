import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';

/** Which targets are permitted beyond public addresses over https. */
export interface TargetRules {
  /** Loopback targets on any port, http included. */
  allowLoopback: boolean;
  /** Public targets over plain http; in development only. */
  allowHttp: boolean;
  /** The permitted ports; all if empty. Permitted loopback targets may use any port. */
  ports?: readonly number[];
}

/** The library reports as public, but we refuse: a cloud's metadata service, and IPv6 addresses outside `2000::/3`. */
const metadataAgent = ipaddr.parseCIDR('168.63.129.16/32');
const assignedIpv6 = ipaddr.parseCIDR('2000::/3');

/** Whether an address is public, or loopback where allowed. Addresses not known to be public are refused. */
export function isPermittedAddress(address: string, { allowLoopback }: Pick<TargetRules, 'allowLoopback'>): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback') return allowLoopback;
  return range === 'unicast' && (parsed.kind() === 'ipv6' ? parsed.match(assignedIpv6) : !parsed.match(metadataAgent));
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';

/** The host of a URL without the brackets of a literal IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Why a URL with these addresses cannot be a webhook target; null if it can. */
export function complaintAboutTarget(url: URL, addresses: readonly string[], rules: TargetRules): string | null {
  if (url.username !== '' || url.password !== '') return 'must not carry credentials';
  const { ports = [] } = rules;
  if (ports.length > 0 && !ports.includes(portOf(url)) && !addresses.every(isLoopback)) {
    return `must have one of the ports ${ports.join(', ')}`;
  }
  if (addresses.some((address) => !isPermittedAddress(address, rules))) return 'must not lead to a private address';
  if (url.protocol === 'https:') return null;
  if (url.protocol !== 'http:') return 'must be an https URL';
  const local = addresses.length > 0 && addresses.every(isLoopback) && rules.allowLoopback;
  return local || rules.allowHttp ? null : 'must be an https URL';
}

const lookupTimeoutMs = budgets.reach.webhookName;

const resolver = new Resolver({ timeout: lookupTimeoutMs, tries: 1 });

/**
 * Looks up a partner's host: IPv4 addresses first; empty if there are none or DNS does not answer in time. Queries
 * DNS directly: `dns.lookup` has only two threads, and names that never resolve would block them for all connections.
 */
export async function lookUpAddresses(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  // Not in DNS.
  if (/(^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1', '::1'];
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/**
 * Throws REQUEST_INVALID for a URL that is not a permitted webhook target (docs/contract.md 8), by itself or by the
 * addresses to which it resolves.
 */
export async function requireTarget(url: string, rules: TargetRules): Promise<void> {
  if (!URL.canParse(url)) refuse('REQUEST_INVALID', 'must be a URL', { field: 'url' });
  const target = new URL(url);
  // Sending looks them up and checks them again.
  const complaint = complaintAboutTarget(target, await lookUpAddresses(hostOf(target)), rules);
  if (complaint !== null) refuse('REQUEST_INVALID', `${complaint}`, { field: 'url' });
}

/** The rules of a configuration: plain http in development only, loopback only with WEBHOOK_ALLOW_LOOPBACK. */
export const targetRules = (config: {
  NODE_ENV: string;
  WEBHOOK_ALLOW_LOOPBACK: boolean;
  WEBHOOK_PORTS: readonly number[];
}): TargetRules => ({
  ports: config.WEBHOOK_PORTS,
  allowLoopback: config.WEBHOOK_ALLOW_LOOPBACK,
  allowHttp: config.NODE_ENV === 'development',
});
