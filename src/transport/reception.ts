import type { Readable } from 'node:stream'
import type { Ctx } from '../ctx.ts'
import type { Push, RefMove, Refusal } from '../repositories/refs/moves.ts'
import type { RefUpdater } from '../repositories/refs/ref-updater.ts'
import type { Pushed } from './push-messages.ts'

/** What taking a push needs of the request that brings it. */
export interface Reception {
  readonly ctx: Ctx
  /** The way into the repository. */
  readonly updater: RefUpdater
  /** What the client sends behind the advertisement: commands, options, pack. */
  readonly input: Readable
  /**
   * The client leaves its side open behind the pack, and may wait for the answer and the end of ours with nothing said on its
   * own: where the pack ends is written in the pack.
   */
  readonly staysOpen?: boolean
  /** Raised when the client is gone. */
  readonly signal: AbortSignal
  /** Lines for the user, once refs have moved. */
  readonly messages: (pushed: Pushed) => Promise<string[]>
}

/** A push that went well stays so, whatever becomes of the words about it. */
export async function messagesOf(
  given: Reception,
  moved: readonly RefMove[],
  push: Push,
): Promise<string[]> {
  try {
    return await given.messages({ moved, options: push.options ?? [] })
  } catch (error) {
    given.ctx.log.error('no messages for a push', { error, repository: given.updater.repo.key })
    return []
  }
}

/** Each reason once, as users of the reference platform know them: `SVC: You are not …`. */
export function sentences(ctx: Ctx, refusals: readonly Refusal[]): string[] {
  const prefix = ctx.config.vendor.prefix.toUpperCase()
  return [...new Set(refusals.map(({ reason }) => `${prefix}: ${reason}`))]
}
