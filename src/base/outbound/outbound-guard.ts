import { isIP } from 'node:net'
import { Problem } from '../problem.ts'
import { addressSet, isPrivateAddress, plainAddress } from './address.ts'
import { type Resolve, sharedLookUp, systemLookUp } from './look-up.ts'

export type OutboundReason =
  | 'bad_url'
  | 'blocked'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'redirects'
  | 'damaged'

/** What can go wrong when we ask another server. The message never says what lies behind a private address. */
export class OutboundError extends Problem {
  readonly reason: OutboundReason

  constructor(reason: OutboundReason, text: string) {
    super('bad_gateway', 502, { message: `502 Bad Gateway - ${text}` })
    this.name = 'OutboundError'
    this.reason = reason
    this.message = text
  }
}

/** A URL whose host was looked up and found fit to be asked. */
export interface Target {
  readonly url: URL
  /** The only addresses that a connection may use; empty when a proxy does the looking up. */
  readonly addresses: readonly string[]
}

export interface GuardOptions {
  /** Hosts, addresses or networks, each with an optional port: of the configuration, and as administrators have set them now. */
  readonly allow: readonly string[]
  readonly allowedNow?: () => readonly string[]
  /** A proxy looks names up itself, and here there may be no DNS at all. */
  readonly proxied?: boolean
  readonly resolve?: Resolve
}

/** How far one request may go. */
export interface Reach {
  /** Private networks too; never the addresses of a link, where clouds keep the secrets of a machine. */
  readonly local?: boolean | undefined
}

/** Says which URLs the server may ask: public ones, and those that the operator allows. */
export interface OutboundGuard {
  /**
   * The cheap check for the moment when a URL is saved: protocol, host, and its addresses, if it has any yet. Throws
   * OutboundError.
   */
  assertMayAsk(url: string | URL, reach?: Reach): Promise<void>
  /** The check for the moment of asking; the connection must use the addresses that come back. */
  resolve(url: string | URL, reach?: Reach): Promise<Target>
}

/** Every refusal says it: behind an air gap all hosts are private (docs/air-gapped.md). */
const howToAllow =
  'private addresses must be named in GITSTEAD_OUTBOUND_ALLOW or outbound_local_requests_whitelist'

/** Names that mean this machine or its surroundings before any DNS is asked. */
const localNames =
  /^(?:localhost|.*\.localhost|.*\.local|.*\.internal|.*\.localdomain|localhost\.localdomain|ip6-localhost|ip6-loopback|metadata|instance-data)$/

const onLink = addressSet(['169.254.0.0/16', 'fe80::/10'])
const onLoopback = addressSet(['127.0.0.0/8', '::1'])

export function makeGuard(options: GuardOptions): OutboundGuard {
  const rulesOf = rulesNow(options)
  const resolveName = options.resolve ?? systemResolve
  const guard: OutboundGuard = {
    async assertMayAsk(given, reach) {
      try {
        await guard.resolve(given, reach)
      } catch (error) {
        // A name that does not resolve now may do so later, and is checked again then.
        if (error instanceof OutboundError && error.reason === 'unreachable') return
        throw error
      }
    },
    async resolve(given, { local = false } = {}) {
      const url = parseUrl(given)
      const name = hostName(url)
      const allowed = allowedAt(url, name, rulesOf(), local)
      if (isIP(name) !== 0) {
        if (!allowed.mayUse(name)) throw blocked(url)
        return { url, addresses: [plainAddress(name)] }
      }
      if (allowed.byAddress && (options.proxied || !allowed.hasRules)) throw blocked(url)
      if (options.proxied) return { url, addresses: [] }
      return { url, addresses: usable(url, await resolveName(name), allowed) }
    },
  }
  return guard
}

/** What the rules for the port of a URL allow. */
function allowedAt(url: URL, name: string, all: readonly Rule[], local: boolean) {
  const rules = all.filter((rule) => rule.port === undefined || rule.port === portOf(url))
  const isNamed = rules.some((rule) => rule.name === name)
  const isListed = (address: string) => rules.some((rule) => rule.holds(address))
  const mayUse = (address: string) =>
    isNamed || (local && !onLink(address)) || !isPrivateAddress(address) || isListed(address)
  // Such a name is as good as its addresses, where these are allowed: behind an air gap, mirrors have such names.
  const byAddress = localNames.test(name) && !isNamed && !local
  return { hasRules: rules.length > 0, byAddress, mayUse: byAddress ? isListed : mayUse }
}

/** One private address among public ones is how a name is made to slip through; both loopback addresses are one machine. */
function usable(
  url: URL,
  found: readonly string[],
  { byAddress, mayUse }: ReturnType<typeof allowedAt>,
): readonly string[] {
  if (found.length === 0 && !byAddress) throw unresolved(hostName(url))
  const addresses = found.filter(mayUse)
  const isWhole = addresses.length === found.length || found.every(onLoopback)
  if (addresses.length === 0 || !isWhole) throw blocked(url)
  return addresses
}

interface Rule {
  readonly name: string
  readonly port: number | undefined
  holds(address: string): boolean
}

/** The rules of the configuration with those of the moment, which are read anew when they are others. */
function rulesNow({ allow, allowedNow = () => [] }: GuardOptions): () => readonly Rule[] {
  const fixed = allow.map(parseRule)
  let read: readonly string[] = []
  let rules: readonly Rule[] = fixed
  return () => {
    const now = allowedNow()
    if (now !== read) {
      rules = [...fixed, ...now.map(parseRule)]
      read = now
    }
    return rules
  }
}

function parseRule(text: string): Rule {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text)
  const [, host = text, port] = bracketed ?? /^([^:]+):(\d+)$/.exec(text) ?? []
  const name = host.toLowerCase().replace(/\.$/, '')
  const isAddress = isIP(name.split('/')[0] ?? '') !== 0
  return {
    name,
    port: port === undefined ? undefined : Number(port),
    holds: isAddress ? addressSet([name]) : () => false,
  }
}

function parseUrl(given: string | URL): URL {
  const url = URL.canParse(String(given)) ? new URL(given) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new OutboundError('bad_url', 'the URL must begin with http:// or https://')
  }
  return url
}

/** The host as DNS sees it. The URL parser has already turned odd numbers and letters into plain ones. */
function hostName(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80))
}

function blocked(url: URL): OutboundError {
  return new OutboundError('blocked', `requests to ${url.hostname} are not allowed: ${howToAllow}`)
}

function unresolved(name: string): OutboundError {
  return new OutboundError('unreachable', `${name} has no address`)
}

const systemNames = sharedLookUp(systemLookUp)

async function systemResolve(name: string): Promise<readonly string[]> {
  return await systemNames(name).catch(() => [])
}
