import type { Ctx } from '../../ctx.ts'
import type { WikiOrSnippetName } from '../../git/repo-name.ts'
import { findSideRoom, refusalOfCommit, refusalOfPush } from './limit.ts'

/** Why a push of so many bytes to a wiki or snippet is refused; undefined when there is room. */
export async function refusalOfSidePush(
  ctx: Ctx,
  name: WikiOrSnippetName,
  bytes: number,
): Promise<string | undefined> {
  const room = await findSideRoom(ctx, name)
  return room && refusalOfPush(room, bytes)
}

/** The same of an edit that the server makes. What only takes away is let through. */
export async function refusalOfSideEdit(
  ctx: Ctx,
  name: WikiOrSnippetName,
  bytes: number,
): Promise<string | undefined> {
  const room = bytes === 0 ? undefined : await findSideRoom(ctx, name)
  return room && refusalOfCommit(room, bytes)
}
