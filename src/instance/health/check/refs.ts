import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '../../../ctx.ts'
import { listBrokenRefs } from '../../../git/refs/broken-refs.ts'
import { isLooseRef } from '../../../git/refs/loose-ref.ts'
import { listRefs } from '../../../git/refs/refs.ts'
import type { Repo } from '../../../git/repo.ts'
import type { RepoName } from '../../../git/repo-name.ts'
import {
  type JournalKey,
  listLastMoves,
  listLaterMoves,
} from '../../../repositories/refs/journal/queries.ts'

/** A ref that is not as the database knows it. */
export interface RefFault {
  readonly name: string
  /**
   * `lost`: it is missing, holds nothing, or what it held before its file was lost. `newer`: it holds something that the
   * database does not know.
   */
  readonly kind: 'lost' | 'newer'
  readonly isBroken: boolean
  /** What the database knows; undefined for nothing, or that it was deleted. */
  readonly known: string | undefined
  /** What it holds. */
  readonly there: string | undefined
  readonly what: string
}

/** The repository of which the refs are looked at. */
interface Place {
  readonly name: RepoName
  readonly key: JournalKey
  readonly defaultBranch: string | undefined
  readonly isEmpty: boolean
}

/** A push may be at work: what it has moved and not yet recorded is as recorded a moment later. */
const secondLookMs = 400
const isBranchOrTag = /^refs\/(?:heads|tags)\//
const isNothing = (id: string) => /^0+$/.test(id)

/** Refs that are missing, empty, or not where the journal of moves says, at two looks. */
export async function findRefFaults(
  ctx: Pick<Ctx, 'db' | 'git'>,
  place: Place,
): Promise<RefFault[]> {
  const first = await look(ctx, place)
  if (first.length === 0) return []
  await sleep(secondLookMs)
  const before = new Map(first.map((fault) => [fault.name, fault]))
  return (await look(ctx, place)).filter((fault) => {
    const same = before.get(fault.name)
    return same?.known === fault.known && same?.there === fault.there
  })
}

async function look(
  { db, git }: Pick<Ctx, 'db' | 'git'>,
  { name, key, defaultBranch, isEmpty }: Place,
): Promise<RefFault[]> {
  const repo = git.open(name)
  const moves = new Map((await listLastMoves(db, key)).map((move) => [move.ref, move]))
  const broken = new Map((await listBrokenRefs(repo, {})).map((ref) => [ref.name, ref.what]))
  const refs = await listRefs(repo, { prefix: 'refs/', withoutBroken: true })
  const there = new Map(refs.map((ref) => [ref.name, ref.id]))
  const faults: RefFault[] = []
  for (const [ref, what] of broken) faults.push(brokenFault(ref, what, moves.get(ref)?.new_id))
  for (const [ref, { new_id, state }] of moves) {
    if (state === 'open' || broken.has(ref)) continue
    const known = isNothing(new_id) ? undefined : new_id
    const fault = compare(ref, known, there.get(ref))
    if (fault) faults.push(await asLost(db, key, fault))
  }
  const strangers = [...there].filter(([ref]) => !moves.has(ref) && isBranchOrTag.test(ref))
  faults.push(...strangers.flatMap(([ref, id]) => strangerFault(repo, ref, id)))
  const first = `refs/heads/${defaultBranch}`
  if (!isEmpty && defaultBranch && ![moves, broken, there].some((refs) => refs.has(first))) {
    const what = `the default branch ${first} is missing`
    faults.push({
      name: first,
      kind: 'lost',
      isBroken: false,
      known: undefined,
      there: undefined,
      what,
    })
  }
  return faults
}

function brokenFault(name: string, what: string, last: string | undefined): RefFault {
  const known = last === undefined || isNothing(last) ? undefined : last
  const text = known === undefined ? what : `${what}, the database knows it at ${known}`
  return { name, kind: 'lost', isBroken: true, known, there: undefined, what: text }
}

/** A ref of which the database knows nothing. Those of forks come packed; one with a file of its own was written since. */
function strangerFault(repo: Repo, name: string, there: string): RefFault[] {
  if (!isLooseRef(repo, name)) return []
  const what = `the ref ${name} is at ${there}, the database does not know it and may be older`
  return [{ name, kind: 'newer', isBroken: false, known: undefined, there, what }]
}

/** A packed ref shows again what it was when the file that came after it is lost. */
async function asLost(db: Ctx['db'], key: JournalKey, fault: RefFault): Promise<RefFault> {
  const { kind, known, there, name } = fault
  if (kind === 'lost' || known === undefined) return fault
  const moves = await listLaterMoves(db, key, name, 0)
  const wasThere = moves.some(({ old_id, new_id }) => old_id === there || new_id === there)
  if (!wasThere) return fault
  const what = `the ref ${name} is back at ${there}, the database knows it at ${known}`
  return { ...fault, kind: 'lost', what }
}

function compare(
  name: string,
  known: string | undefined,
  there: string | undefined,
): RefFault | undefined {
  if (known === there) return undefined
  const about = { name, isBroken: false, known, there }
  if (there === undefined) {
    return {
      ...about,
      kind: 'lost',
      what: `the ref ${name} is missing, the database knows it at ${known}`,
    }
  }
  // Those of merge requests are written by the server itself.
  if (!isBranchOrTag.test(name)) return undefined
  const was = known === undefined ? 'as deleted' : `at ${known}`
  const what = `the ref ${name} is at ${there}, the database knows it ${was} and may be older`
  return { ...about, kind: 'newer', what }
}
