import { LRUCache } from 'lru-cache'
import { byteCache } from '../base/byte-cache.ts'
import { GitError } from '../git/error.ts'
import { RefsStates } from '../git/ref-files/refs-state.ts'
import { assertRefsWhole } from '../git/refs/broken-refs.ts'
import { listRefs } from '../git/refs/refs.ts'
import type { Repo } from '../git/repo.ts'
import type { Ref } from '../git/types.ts'
import { pushablePrefixes } from '../repositories/refs/moves.ts'
import { collect, startService } from './git-process.ts'
import { flushPacket, packet, parsePackets } from './pkt-line.ts'
import { borrowsObjects, onlyPushableRefs } from './receive-command.ts'

export type Service = 'upload-pack' | 'receive-pack'

const mostRepositories = 5000

interface Kept {
  readonly state: string
  readonly bytes: Buffer
}

/** Ref lists as the wire wants them, kept in memory for as long as the refs stay the same. */
export class Advertisements {
  readonly #states = new RefsStates()
  readonly #kept: LRUCache<string, Kept>
  readonly #pushCapabilities = new LRUCache<string, string>({ max: mostRepositories })

  constructor(maxBytes: number) {
    this.#kept = byteCache(maxBytes, (kept) => kept.bytes.length)
  }

  /** The answer to `GET info/refs`, service line included. */
  async infoRefs(repo: Repo, service: Service, version: 0 | 1 | 2): Promise<Buffer> {
    // Of protocol 2 the list is asked for later.
    if (service === 'upload-pack' && version < 2) await assertRefsWhole(repo)
    const make = () => advertise(repo, service, version)
    const head = Buffer.concat([packet(`# service=git-${service}\n`), flushPacket])
    return Buffer.concat([head, await this.#list(repo, service, version, make)])
  }

  /** What a client that pushes over SSH gets first. */
  async pushRefs(repo: Repo, version: 0 | 1 | 2): Promise<Buffer> {
    // There is no push of protocol 2.
    const spoken = version === 1 ? 1 : 0
    return await this.#list(repo, 'receive-pack', spoken, () =>
      advertise(repo, 'receive-pack', spoken),
    )
  }

  /** The answer to an `ls-refs` of protocol 2. */
  async lsRefs(repo: Repo, request: Buffer, make: () => Promise<Buffer>): Promise<Buffer> {
    const key = `${repo.path} ls ${request.toString('latin1')}`
    return await this.#remember(key, () => this.#states.of(repo.path), make)
  }

  async #list(
    repo: Repo,
    service: Service,
    version: 0 | 1 | 2,
    make: () => Promise<Buffer>,
  ): Promise<Buffer> {
    const key = `${repo.path} ${service} ${version}`
    // Protocol 2 begins with capabilities alone: they follow from the repository's settings.
    const constant = service === 'upload-pack' && version === 2
    if (constant) return await this.#remember(key, async () => 'constant', make)
    if (service === 'receive-pack' && version === 0) return await this.#pushList(repo, make)
    return await this.#remember(key, () => this.#states.of(repo.path), make)
  }

  /**
   * What pushing clients get, without a git process: each push changes the refs, so nothing
   * that is kept would do. Git lists the capabilities of a repository once. A fork also offers what
   * its source has, which git knows better.
   */
  async #pushList(repo: Repo, byGit: () => Promise<Buffer>): Promise<Buffer> {
    const capabilities = this.#pushCapabilities.get(repo.path)
    if (capabilities === undefined) {
      const list = await byGit()
      this.#pushCapabilities.set(repo.path, borrowsObjects(repo) ? '' : capabilitiesOf(list))
      return list
    }
    if (capabilities === '') return await byGit()
    const lists = await Promise.all(
      pushablePrefixes.map((prefix) => listRefs(repo, { prefix, withoutBroken: true })),
    )
    return pushAdvertisement(lists.flat(), capabilities)
  }

  async #remember(
    key: string,
    stateNow: () => Promise<string | undefined>,
    make: () => Promise<Buffer>,
  ): Promise<Buffer> {
    const state = await stateNow()
    const kept = this.#kept.get(key)
    if (kept && kept.state === state) return kept.bytes
    const bytes = await make()
    // Only a list that was read between two equal states is known to belong to that state.
    if (state !== undefined && state === (await stateNow())) this.#kept.set(key, { state, bytes })
    return bytes
  }
}

/** The capabilities in the first line of a list of protocol 0. */
function capabilitiesOf(list: Buffer): string {
  const [first] = parsePackets(list)
  const line = first?.kind === 'data' ? first.bytes.toString('latin1') : ''
  return line.slice(line.indexOf('\0') + 1).trimEnd()
}

/** A list of protocol 0, as gitprotocol-pack describes it. */
function pushAdvertisement(refs: readonly Ref[], capabilities: string): Buffer {
  const [first, ...others] = refs
  const idLength = capabilities.includes('object-format=sha256') ? 64 : 40
  const nothing = { id: '0'.repeat(idLength), name: 'capabilities^{}' }
  const { id, name } = first ?? nothing
  const lines = others.map((ref) => packet(`${ref.id} ${ref.name}\n`))
  return Buffer.concat([packet(`${id} ${name}\0${capabilities}\n`), ...lines, flushPacket])
}

async function advertise(repo: Repo, service: Service, version: 0 | 1 | 2): Promise<Buffer> {
  const git = startService({
    service,
    repo,
    options: ['--stateless-rpc', '--http-backend-info-refs'],
    protocol: version === 0 ? undefined : `version=${version}`,
    env: service === 'receive-pack' ? onlyPushableRefs : undefined,
  })
  git.stdin.end()
  const list = await collect(git.stdout)
  const { code, stderr } = await git.closed
  if (code !== 0) throw new GitError('failed', `git ${service}: ${stderr.trim()}`)
  return list
}
