import { readFile } from 'node:fs/promises'
import { connect, isIP, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls'
import type { Client } from 'ldapts'
import type { LdapProvider } from '../../../base/providers/ldap.ts'
import type { Ctx } from '../../../ctx.ts'

/** Loaded by the first sign-in: many servers have no directory. */
const library = () => import('ldapts')

/** A directory that cannot be asked: it says no word about anybody. */
export class DirectoryUnreachable extends Error {}

const LONGEST_MS = 10_000
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'ldap:': 389, 'ldaps:': 636 }

type Asking = Pick<Ctx, 'outbound' | 'config'>

/** What works on a connection, which is bound as whoever looks people up. */
type Act<T> = (client: Client) => Promise<T>

/** Works on a connection of its own to a directory, which ends with the work, and within `longestMs`. */
export async function withDirectory<T>(
  ctx: Asking,
  provider: LdapProvider,
  act: Act<T>,
  longestMs = Math.min(LONGEST_MS, ctx.config.outboundTimeout),
): Promise<T> {
  const sockets = new Set<Socket>()
  const ended = new AbortController()
  try {
    const client = await within(longestMs, ended.signal, open(ctx, provider, sockets))
    return await within(longestMs, ended.signal, act(client))
  } finally {
    ended.abort()
    for (const socket of sockets) socket.destroy()
  }
}

async function within<T>(ms: number, signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = sleep(ms, undefined, { signal }).then(
    () => Promise.reject(new DirectoryUnreachable('it took too long')),
    () => new Promise<never>(() => {}),
  )
  return await Promise.race([work, late])
}

async function open(ctx: Asking, provider: LdapProvider, sockets: Set<Socket>): Promise<Client> {
  try {
    const client = await openUnbound(ctx, provider, sockets)
    if (provider.bind_dn !== undefined) await client.bind(provider.bind_dn, provider.bind_password)
    return client
  } catch (error) {
    throw new DirectoryUnreachable(error instanceof Error ? error.message : String(error))
  }
}

async function openUnbound(
  ctx: Asking,
  provider: LdapProvider,
  sockets: Set<Socket>,
): Promise<Client> {
  const { Client } = await library()
  const url = new URL(provider.url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || DEFAULT_PORTS[url.protocol])
  // The rule for addresses speaks of requests over HTTP; a connection is one all the same.
  const { addresses } = await ctx.outbound.resolve(`http://${url.hostname}:${port}`)
  const address = addresses[0] ?? host
  const options = await tlsOptions(provider, host)
  // The library connects anew by itself, then without encryption: the first connection is the only one.
  const once = (make: () => Socket) => () => {
    if (sockets.size > 0) throw new Error('the directory closed the connection')
    const socket = make()
    sockets.add(socket)
    return socket
  }
  const isSecure = url.protocol === 'ldaps:'
  const tcp = once(() => connect(port, address))
  const secure = once(() => connectTls({ ...options, port, host: address }))
  const client = new Client({
    url: `${url.protocol}//${url.host}`,
    timeout: LONGEST_MS,
    connectTimeout: LONGEST_MS,
    createConnection: tcp as typeof connect,
    ...(isSecure ? { createSecureConnection: secure as unknown as typeof connectTls } : {}),
  })
  if (!isSecure && provider.start_tls) await client.startTLS(options)
  return client
}

async function tlsOptions({ ca_file: ca }: LdapProvider, host: string): Promise<ConnectionOptions> {
  return {
    ...(ca === undefined ? {} : { ca: await readFile(ca) }),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // The connection is to an address that was looked up before; the certificate is for the name.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  }
}

/** Whether a password is the one of an entry, on a connection of its own. */
export async function isPasswordOf(
  ctx: Asking,
  provider: LdapProvider,
  dn: string,
  password: string,
): Promise<boolean> {
  // To a directory a bind without a password is one of nobody in particular, and succeeds (RFC 4513 §5.1.2).
  if (password === '') return false
  const { InvalidCredentialsError } = await library()
  const { bind_dn: _dn, bind_password: _password, ...unbound } = provider
  return await withDirectory(ctx, unbound, async (client) => {
    try {
      await client.bind(dn, password)
      return true
    } catch (error) {
      if (error instanceof InvalidCredentialsError) return false
      throw new DirectoryUnreachable(error instanceof Error ? error.message : String(error))
    }
  })
}
