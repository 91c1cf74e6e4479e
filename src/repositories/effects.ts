import type { Project } from '../access/subjects.ts'
import type { Ctx, Effect, PreparedEffect } from '../ctx.ts'
import type { Repo } from '../git/repo.ts'
import type { ObjectId } from '../git/types.ts'
import type { Via } from '../store/schema/refs.ts'
import type { FinalizedPush, RefMove, Refusal } from './refs/moves.ts'
import type { RefNews } from './refs/push-news.ts'
import type { CheckedPush } from './refs/rules.ts'
import type { WikiOrSnippetRow } from './wikis-and-snippets/queries.ts'

/** Says why a ref may not move, as a sentence for its user; undefined when it may. */
export type RefRule = (ctx: Ctx, push: CheckedPush, move: RefMove) => Promise<string | undefined>

/** The same of all moves of a push, once each of them by itself may be. */
export type PushRule = (ctx: Ctx, push: CheckedPush) => Promise<readonly Refusal[]>

/** A finalized push with what its commits are, for those who follow it. */
export interface ReadPush {
  readonly project: Project
  readonly push: FinalizedPush
  /** The refs that a person could still care about each of. */
  readonly news: readonly RefNews[]
}

/** A move of the branch of a wiki or snippet, for those who follow it. */
export interface WikiOrSnippetMove {
  readonly pushId: number
  readonly repo: Repo
  readonly repository: WikiOrSnippetRow
  /** All zeros before the first commit. */
  readonly oldId: ObjectId
  readonly newId: ObjectId
}

export interface DeletedTag {
  readonly project: Project
  readonly tag: string
}

declare module '../ctx.ts' {
  /** The rules on moving refs, and what follows from their moves. */
  interface Effects {
    /** The first refusal counts. */
    readonly mayMoveRef: readonly RefRule[]
    readonly mayPush: readonly PushRule[]
    /** In the transaction that closes a push of which some refs moved. */
    readonly refsMoved: readonly Effect<{
      readonly projectId: number
      readonly pushId: number
      readonly via: Via
      readonly moves: readonly RefMove[]
    }>[]
    /** The same, where the first push to a project decided its default branch. */
    readonly defaultBranchDecided: readonly Effect<{
      readonly projectId: number
      readonly namespaceId: number
      readonly name: string
    }>[]
    /** In the transaction that closes a push of which no ref moved. */
    readonly refsRefused: readonly Effect<{
      readonly pushId: number
      readonly via: Via
    }>[]
    /** By a task, outside any transaction; may run twice. */
    readonly pushFinalized: readonly Effect<FinalizedPush>[]
    /** By the same task, once: what reads the repository first, then writes in one transaction for many pushes. */
    readonly pushFollowed: readonly PreparedEffect<ReadPush, undefined>[]
    /** Somebody deleted a tag through the API, not by a push: prepared before it goes. */
    readonly tagDeleted: readonly PreparedEffect<DeletedTag, undefined>[]
    /** The branch of a wiki or snippet moved: read first, then written in the transaction that closes the push. */
    readonly wikiMoved: readonly PreparedEffect<WikiOrSnippetMove, undefined>[]
    readonly snippetMoved: readonly PreparedEffect<WikiOrSnippetMove, undefined>[]
  }
}
