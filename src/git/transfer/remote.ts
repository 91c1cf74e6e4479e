import { isIP } from 'node:net'
import type { Outbound, OutboundResponse } from '../../base/outbound/outbound.ts'
import { type GitCommand, gitLines } from '../command.ts'
import { GitError } from '../error.ts'
import type { Ref } from '../types.ts'
import { saidPlainly } from './fetch-whole.ts'

/** A repository on another server, as somebody gave its address. */
export interface RemoteSource {
  /** An `http` or `https` address; a name and password in it count as given below. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** How the server asks others. */
export interface RemoteOptions {
  /** Refuses private addresses, and says which addresses a connection may use. */
  readonly outbound: Outbound
  /** The proxy that `outbound` uses, if any. */
  readonly proxy?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A repository that was found, and how git reaches its server and no other. */
export interface Remote {
  /** Without a name and a password. */
  readonly url: string
  readonly access: Required<Pick<GitCommand, 'env' | 'config'>>
}

/** What is to be done with a repository: fetch from it, or push to it. */
export type RemoteService = 'git-upload-pack' | 'git-receive-pack'

interface Address {
  /** Without a name, a password and a slash at its end. */
  readonly url: string
  /** `Basic …`, when there is something to sign in with. */
  readonly authorization: string | undefined
}

function readSource(source: RemoteSource): Address {
  const url = URL.canParse(source.url) ? new URL(source.url) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new GitError('invalid', 'only http and https addresses can be asked')
  }
  const username = source.username ?? decodeURIComponent(url.username)
  const password = source.password ?? decodeURIComponent(url.password)
  url.username = ''
  url.password = ''
  url.hash = ''
  url.search = ''
  const signsIn = username !== '' || password !== ''
  const coded = Buffer.from(`${username}:${password}`).toString('base64')
  return {
    url: url.href.replace(/\/+$/, ''),
    authorization: signsIn ? `Basic ${coded}` : undefined,
  }
}

function refusal(status: number): GitError {
  if (status === 401 || status === 403) {
    return new GitError('invalid', 'the other server wants a valid name and password', { status })
  }
  return new GitError('not_found', 'there is no repository at this address', { status })
}

/** Asks whether a repository is there, following redirects that are each checked. */
async function findRepository(
  { url: first, authorization }: Address,
  service: RemoteService,
  options: RemoteOptions,
): Promise<Address> {
  const path = `/info/refs?service=${service}`
  const headers = authorization === undefined ? {} : { authorization }
  const asked = { headers, redirects: 3, ...(options.signal ? { signal: options.signal } : {}) }
  const answer: OutboundResponse = await options.outbound.request(first + path, asked)
  answer.body.on('error', () => {})
  answer.body.destroy()
  if (answer.status !== 200) throw refusal(answer.status)
  // The older protocol of plain files could lead git to other addresses, and nothing would be checked.
  const type = String(answer.headers['content-type'] ?? '')
  if (!type.startsWith(`application/x-${service}-advertisement`) || !answer.url.endsWith(path)) {
    throw new GitError('not_found', 'there is no repository at this address')
  }
  const url = answer.url.slice(0, -path.length)
  // What was meant for one host is not sent to another.
  const sameHost = new URL(url).origin === new URL(first).origin
  return { url, authorization: sameHost ? authorization : undefined }
}

/** Settings with which git can reach this one server and nothing else. */
async function restrictedAccess(
  { url: text, authorization: secret }: Address,
  options: RemoteOptions,
): Promise<Remote['access']> {
  const { url, addresses } = await options.outbound.resolve(text)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const host = url.hostname
  const pinned = isIP(host.replace(/^\[|\]$/g, '')) === 0 && addresses.length > 0
  return {
    config: {
      'protocol.allow': 'never',
      'protocol.http.allow': 'always',
      'protocol.https.allow': 'always',
      'http.followRedirects': 'false',
      'http.lowSpeedLimit': '1000',
      'http.lowSpeedTime': '60',
      'http.proxy': options.proxy ?? '',
      // The name must not mean another address the next time it is looked up.
      ...(pinned ? { 'http.curloptResolve': `${host}:${port}:${addresses.join(',')}` } : {}),
    },
    env: {
      GIT_ALLOW_PROTOCOL: 'http:https',
      // In the environment, for arguments can be seen by everybody on the machine.
      ...(secret === undefined
        ? {}
        : {
            GIT_CONFIG_COUNT: '1',
            GIT_CONFIG_KEY_0: 'http.extraHeader',
            GIT_CONFIG_VALUE_0: `Authorization: ${secret}`,
          }),
    },
  }
}

/**
 * Finds the repository at an address that a user gave. Git then reaches that one server only, at the addresses that were
 * found fit.
 */
export async function openRemote(
  source: RemoteSource,
  service: RemoteService,
  options: RemoteOptions,
): Promise<Remote> {
  const found = await findRepository(readSource(source), service, options)
  return { url: found.url, access: await restrictedAccess(found, options) }
}

/** The branches and tags of another server's repository; `too_large` beyond 64 MiB of them, some half a million. */
export async function listRemoteRefs(
  { url, access }: Remote,
  signal?: AbortSignal,
): Promise<Ref[]> {
  const args = ['ls-remote', '--refs', '--end-of-options', url, 'refs/heads/*', 'refs/tags/*']
  const lines = await saidPlainly(gitLines({ ...access, args, signal, timeout: 0 }))
  return lines.map((line) => {
    const [id = '', name = ''] = line.split('\t')
    return { id, name }
  })
}
