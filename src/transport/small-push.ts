import type { Readable } from 'node:stream'
import type { Ctx } from '../ctx.ts'
import { readHead } from '../git/refs/refs.ts'
import { updateRefs } from '../git/refs/update-refs.ts'
import type { Repo } from '../git/repo.ts'
import { isConnected } from '../git/transfer/connectivity.ts'
import { acceptLooseObjects, syncLooseObjects } from '../git/transfer/quarantine.ts'
import { startUnpacking, type Unpacking } from '../git/transfer/unpacking.ts'
import {
  isCreation,
  isDeletion,
  isPushable,
  type Push,
  type RefMove,
  type Refusal,
} from '../repositories/refs/moves.ts'
import { objectFacts } from '../repositories/refs/object-facts.ts'
import { finalizeMoved, movedDespite } from '../repositories/refs/ref-updater.ts'
import { nextChunk, type PushRequest } from './push-request.ts'
import { pushLimit } from './receive-command.ts'
import type { Reception } from './reception.ts'
import { wantsReport } from './report.ts'
import type { Transport } from './transport.ts'

/** Larger packs are taken in as they come. */
const smallPack = 256 * 1024
/** Packs of fewer objects git leaves in files of their own (`receive.unpackLimit`). */
const fewObjects = 100

/**
 * The pack of a push that moves one ref and brings little, as most do; undefined for others, whose input is left as
 * it was.
 */
export async function readSmallPack(
  request: PushRequest,
  input: Readable,
): Promise<Buffer | undefined> {
  if (!isPlain(request)) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for (let chunk = await nextChunk(input); chunk; chunk = await nextChunk(input)) {
    chunks.push(chunk)
    size += chunk.length
    if (size <= smallPack) continue
    input.unshift(Buffer.concat(chunks))
    return undefined
  }
  return Buffer.concat(chunks)
}

/** One ref is made or moved, by a client that has the whole history. */
function isPlain({ commands, capabilities, shallow }: PushRequest): boolean {
  const [only, ...others] = commands
  if (!only || others.length > 0 || shallow || !wantsReport(capabilities)) return false
  // Repositories with SHA-256 are rare, and moves of their refs are git's.
  return isPushable(only.name) && !isDeletion(only) && only.newId.length === 40
}

/** Whether a pack says of itself that it holds few objects. */
function hasFewObjects(pack: Buffer): boolean {
  return (
    pack.length > 12 &&
    pack.toString('latin1', 0, 4) === 'PACK' &&
    pack.readUInt32BE(8) < fewObjects
  )
}

/** Operators may allow less than what is small here. */
function isTooLarge(ctx: Ctx, pack: Buffer): boolean {
  const limit = pushLimit(ctx)
  return limit > 0 && pack.length > limit
}

/** What became of a small push. */
export type SmallPushResult = 'moved' | 'left to git' | readonly Refusal[]

/**
 * Takes a small push in with one program instead of five: git unpacks and checks the objects, and what is left of
 * the work of `git receive-pack` is done here, in its order. Whatever is not plainly well (an object that git refuses, a
 * history whose connectivity takes a walk to tell, a ref that moved meanwhile) is `left to git`: nothing has changed
 * then, and `git receive-pack` says what is wrong in its own words.
 */
export async function takeSmallPush(
  transport: Transport,
  given: Reception,
  push: Push,
  pack: Buffer,
): Promise<SmallPushResult> {
  const { ctx, updater, signal } = given
  if (!hasFewObjects(pack) || isTooLarge(ctx, pack)) return 'left to git'
  const unpacking = transport.ready.take(updater.repo.path, () => startUnpacking(updater.repo))
  const intent = updater.open(push)
  let moved: ReadonlySet<string> = new Set()
  try {
    const refusals = await judge(transport, given, push, unpacking, pack, intent)
    if (refusals === undefined || signal.aborted) return 'left to git'
    if (refusals.length > 0) return refusals
    transport.atStep('allowed')
    await acceptLooseObjects(updater.repo, unpacking.quarantine)
    moved = await move(updater.repo, push.moves)
    if (moved.size === 0) return 'left to git'
    transport.atStep('refs moved')
    return 'moved'
  } catch (error) {
    ctx.log.debug('a small push is left to git', { error, repository: updater.repo.key })
    return 'left to git'
  } finally {
    unpacking.stop()
    const id = await intent.catch(() => undefined)
    if (id !== undefined) await finalizeMoved(ctx, updater, id, moved)
    if (moved.size > 0) transport.atStep('finalized')
  }
}

/** Moves a ref, and gives its name if it did. */
async function move(repo: Repo, moves: readonly RefMove[]): Promise<ReadonlySet<string>> {
  try {
    await updateRefs(repo, moves)
    return new Set(moves.map(({ name }) => name))
  } catch (error) {
    return await movedDespite(error, repo, moves)
  }
}

/** What the rules say of a push whose objects are good, and on the disk by then; undefined when that is not plain. */
async function judge(
  transport: Transport,
  { updater }: Reception,
  push: Push,
  unpacking: Unpacking,
  pack: Buffer,
  intent: Promise<number>,
): Promise<readonly Refusal[] | undefined> {
  const { quarantine } = unpacking
  const recorded = intent.then(() => transport.atStep('intent recorded'))
  recorded.catch(() => {})
  await unpacking.take(pack)
  transport.atStep('objects received')
  const [connected, refusals] = await Promise.all([
    areConnected(updater.repo, push, quarantine),
    updater.check(push, objectFacts(updater.repo, quarantine)),
    syncLooseObjects(quarantine),
    recorded,
  ])
  return connected ? refusals : undefined
}

/** Most go on from where the ref stands, begin a branch where the default branch is, or bring that in. */
async function areConnected(repo: Repo, push: Push, quarantine: string): Promise<boolean> {
  const { id: head } = await readHead(repo)
  const standing = push.moves.filter((move) => !isCreation(move)).map(({ oldId }) => oldId)
  const whole = head === undefined ? standing : [...standing, head]
  for (const { newId: tip } of push.moves) {
    if (!(await isConnected(repo, { quarantine, tip, whole }))) return false
  }
  return true
}

/** Gets git ready for a push that is about to come, most likely a small one. */
export function expectPush(transport: Transport, repo: Repo): void {
  transport.ready.prepare(repo.path, () => startUnpacking(repo))
}
