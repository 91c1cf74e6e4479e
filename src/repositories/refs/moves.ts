import type { Ctx } from '../../ctx.ts'
import type { Via } from '../../store/schema/refs.ts'

/** One change of a ref that somebody wants: all zeros as old create, as new delete. */
export interface RefMove {
  /** The full name, e.g. `refs/heads/main`. */
  readonly name: string
  readonly oldId: string
  readonly newId: string
}

/** Moves of refs that belong together, and how they came in. */
export interface Push {
  readonly via: Via
  readonly moves: readonly RefMove[]
  /** Push options, as the client wrote them. */
  readonly options?: readonly string[] | undefined
  /** Writes what the move means beside its intent, in the same transaction: a merge says so here. */
  readonly record?: ((ctx: Ctx, pushId: number) => Promise<void>) | undefined
}

/** A push whose refs have moved. */
export interface FinalizedPush {
  readonly id: number
  readonly projectId: number
  readonly userId: number | null
  readonly via: Via
  readonly options: readonly string[]
  readonly at: string
  readonly moves: readonly RefMove[]
}

/** Why a ref may not move, as a sentence for its user. */
export interface Refusal {
  readonly name: string
  readonly reason: string
}

const zeros = /^0+$/

export function isCreation(move: Pick<RefMove, 'oldId'>): boolean {
  return zeros.test(move.oldId)
}

export function isDeletion(move: Pick<RefMove, 'newId'>): boolean {
  return zeros.test(move.newId)
}

/**
 * Where people may push: branches, tags, and git's notes, in which release tools keep what they need to know. In git's
 * order of refs.
 */
export const pushablePrefixes = ['refs/heads/', 'refs/notes/', 'refs/tags/'] as const

/** Whether the ref is one that people may push (docs/contract/D §3.5); all others are the server's. */
export function isPushable(ref: string): boolean {
  return pushablePrefixes.some((prefix) => ref.startsWith(prefix))
}

/** The branch of a full ref name, or undefined. */
export function branchOf(ref: string): string | undefined {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined
}

/** The tag of a full ref name, or undefined. */
export function tagOf(ref: string): string | undefined {
  return ref.startsWith('refs/tags/') ? ref.slice('refs/tags/'.length) : undefined
}
