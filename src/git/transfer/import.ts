import { readdir, readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Outbound, OutboundResponse } from '../../base/outbound/outbound.ts'
import type { GitCommand } from '../command.ts'
import { GitError } from '../error.ts'
import { type Fetched, fetchWhole, type RemoteHead, readRemoteHead } from './fetch-whole.ts'

export interface ImportSource {
  /** An `http` or `https` address; a name and password in it count as given below. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
}

export interface ImportOptions {
  /** A folder of its own in the data folder, which the caller removes afterwards. */
  readonly scratch: string
  /** Refuses private addresses, and says which addresses a connection may use. */
  readonly outbound: Outbound
  /** The proxy that `outbound` uses, if any. */
  readonly proxy?: string | undefined
  /** Bytes on disk after which it is given up; 10 GB by default. */
  readonly maxBytes?: number | undefined
  readonly onProgress?: ((text: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** A repository that was fetched and checked; `fetched.moveInto` takes its objects in. */
export interface Imported {
  readonly head: RemoteHead
  readonly fetched: Fetched
}

const service = '/info/refs?service=git-upload-pack'
const advertisement = 'application/x-git-upload-pack-advertisement'
const defaultLimit = 10 * 1024 ** 3

interface Remote {
  /** Without a name, a password and a slash at its end. */
  readonly url: string
  /** `Basic …`, when there is something to sign in with. */
  readonly authorization: string | undefined
}

function readSource(source: ImportSource): Remote {
  const url = URL.canParse(source.url) ? new URL(source.url) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new GitError('invalid', 'only http and https addresses can be imported')
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
async function findRepository(remote: Remote, options: ImportOptions): Promise<Remote> {
  const { authorization } = remote
  const headers = authorization === undefined ? {} : { authorization }
  const asked = { headers, redirects: 3, ...(options.signal ? { signal: options.signal } : {}) }
  const answer: OutboundResponse = await options.outbound.request(remote.url + service, asked)
  answer.body.on('error', () => {})
  answer.body.destroy()
  if (answer.status !== 200) throw refusal(answer.status)
  // The older protocol of plain files could lead git to other addresses, and nothing would be checked.
  const type = String(answer.headers['content-type'] ?? '')
  if (!type.startsWith(advertisement) || !answer.url.endsWith(service)) {
    throw new GitError('not_found', 'there is no repository at this address')
  }
  const url = answer.url.slice(0, -service.length)
  // What was meant for one host is not told to another.
  const sameHost = new URL(url).origin === new URL(remote.url).origin
  return { url, authorization: sameHost ? authorization : undefined }
}

/** Settings with which git can reach this one server and nothing else. */
async function restrictedAccess(
  remote: Remote,
  options: ImportOptions,
): Promise<Pick<GitCommand, 'env' | 'config'>> {
  const { url, addresses } = await options.outbound.resolve(remote.url)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const host = url.hostname
  const pinned = isIP(host.replace(/^\[|\]$/g, '')) === 0 && addresses.length > 0
  const secret = remote.authorization
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
      GIT_TRACE2_EVENT: traceOf(options),
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

function traceOf({ scratch }: ImportOptions): string {
  return join(scratch, 'trace')
}

/**
 * A server may claim to be smart when we ask and not when git does. Then git fetches plain files and
 * checks nothing, and it has no setting against that; but it tells which programs it starts. Whatever
 * came must have gone through `index-pack --strict`, on the one connection for it.
 */
async function assertChecked(options: ImportOptions, fetched: Fetched): Promise<void> {
  if (fetched.refs.length === 0) return
  const trace = await readFile(traceOf(options), 'utf8')
  const connections = trace.match(/"argv":\["git","remote-https?"/g)?.length ?? 0
  // One to ask for the branches, one to fetch them.
  if (connections <= 2 && /"argv":\["git","index-pack"[^\]]*"--strict/.test(trace)) return
  throw new GitError('invalid', 'the other server speaks only the protocol of plain files')
}

/** Bytes of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  // Files come and go while git works.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Does the work while a clock looks at what it fills the disk with. */
async function withinLimit<T>(
  options: ImportOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = options.maxBytes ?? defaultLimit
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const tooLarge = new GitError('too_large', `the repository is larger than ${limit} bytes`)
  const check = async () => {
    if ((await sizeOf(options.scratch)) > limit) stop.abort(tooLarge)
  }
  const timer = setInterval(() => void check(), 500)
  try {
    const result = await work(signal)
    await check()
    if (stop.signal.aborted) throw tooLarge
    return result
  } catch (error) {
    throw stop.signal.aborted ? tooLarge : error
  } finally {
    clearInterval(timer)
  }
}

/**
 * Fetches the repository at an address that a user gave, into a folder of its own, every object
 * checked as in a push (docs/faults, "git fetch has no quarantine"). Git reaches that one server only, at
 * the addresses that were found fit. Nothing is moved in before the caller says so.
 */
export async function importRepository(
  source: ImportSource,
  options: ImportOptions,
): Promise<Imported> {
  const remote = await findRepository(readSource(source), options)
  const access = await restrictedAccess(remote, options)
  const { scratch, onProgress } = options
  return withinLimit(options, async (signal) => {
    const how = { scratch, onProgress, signal, access }
    const head = await readRemoteHead(remote.url, how)
    const fetched = await fetchWhole(remote.url, head, how)
    await assertChecked(options, fetched)
    return { head, fetched }
  })
}
