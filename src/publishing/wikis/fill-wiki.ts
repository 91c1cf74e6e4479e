import { findProjectById } from '../../access/find-queries.ts'
import { withProjectRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Fetched } from '../../git/transfer/fetch-whole.ts'
import { noObject } from '../../git/types.ts'
import { moveThrough } from '../../repositories/refs/move-refs.ts'
import { branchOf } from '../../repositories/refs/moves.ts'
import { sideDoor } from '../../repositories/side-repositories/door.ts'
import { ensureWikiSide, projectWiki } from './wiki.ts'

/** Moves a wiki that was fetched and checked into a project's own. May be done again after a crash. */
export async function fillWiki(ctx: Ctx, projectId: number, fetched: Fetched): Promise<void> {
  const ref = fetched.refs.find(({ name }) => branchOf(name) !== undefined)
  const row = await findProjectById(ctx.db, projectId)
  if (!ref || !row) return
  const wiki = projectWiki(ctx, await withProjectRole(ctx, row))
  const side = { ...(await ensureWikiSide(ctx, wiki)), refusal: undefined }
  const door = sideDoor(ctx, side)
  await fetched.moveInto(door.repo)
  const oldId = (await findRef(door.repo, ref.name))?.id ?? noObject
  if (oldId === ref.id) return
  const move = { name: ref.name, oldId, newId: ref.id }
  await moveThrough(ctx, door, { via: 'system', moves: [move] })
}
