import { createReadStream } from 'node:fs'
import { userOf } from '../../access/actor.ts'
import { getVisibleGroup } from '../../access/subjects.ts'
import { groupNameFaults, groupPathFaults } from '../../base/path-rules.ts'
import { badRequest, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { assertDepth, refuseGroupFaults } from '../../projects/groups/faults.ts'
import { countAncestors } from '../../projects/groups/queries.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type GroupEntry, groupAbove } from './archive-form.ts'
import { makeGroup } from './fill-group.ts'
import { mostBytes } from './import-facts.ts'
import { readGroupArchive } from './read-import.ts'
import { importGroupsBelow } from './tasks.ts'

/** Makes the first group of an archive under a new name, as the caller's own; a task makes those below it. */
export async function importGroup(
  ctx: Ctx,
  path: string,
  top: { readonly name: string; readonly path: string; readonly parentId?: number | undefined },
): Promise<void> {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  const { groups } = await readGroupArchive(ctx, path).catch((error: unknown) => {
    throw error instanceof GitError ? badRequest(error.message) : error
  })
  const [first, ...below] = assertTree(groups)
  const maxSize = mostBytes(ctx, 'max_import_size')
  const { sha256: file } = await ctx.files.put(createReadStream(path), { maxSize })
  await inTransaction(ctx, async (ctx) => {
    const { parentId } = top
    const parent = parentId === undefined ? null : await getVisibleGroup(ctx, String(parentId))
    const id = await makeGroup(ctx, first, top, parent)
    const depth = await countAncestors(ctx.db, id)
    for (const { relative_path: path } of below) assertDepth(depth + path.split('/').length - 1)
    const payload = { group_id: id, user_id: user.id, file }
    if (below.length > 0) await ctx.work.enqueue(ctx.db, importGroupsBelow, payload)
  })
}

/** Refuses groups that nothing could be made of: each is below one before it, where no other is. */
function assertTree(groups: readonly GroupEntry[]): readonly [GroupEntry, ...GroupEntry[]] {
  const foreign = badRequest('the archive is not an export of this program')
  const [first, ...below] = groups
  if (first?.relative_path !== '') throw foreign
  const known = new Set([''])
  for (const entry of below) {
    const path = entry.relative_path.toLowerCase()
    if (known.has(path) || !known.has(groupAbove(path))) throw foreign
    known.add(path)
    refuseGroupFaults({
      name: groupNameFaults(entry.name),
      path: groupPathFaults(entry.path, false),
    })
    // What a run has made is found again by its path.
    if (path.split('/').at(-1) !== entry.path.toLowerCase()) throw foreign
  }
  return [first, ...below]
}
