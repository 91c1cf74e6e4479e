import { findProjectById } from '../../access/find-queries.ts'
import { withProjectRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { fetchObjects } from '../../git/transfer/fetch-objects.ts'
import { noObject } from '../../git/types.ts'
import { writeCommit } from '../../git/write/write-commit.ts'
import { findProjectRow } from '../../projects/projects/list/queries.ts'
import { shareLfsObjects } from '../lfs/objects.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { defaultRef } from '../repository/access.ts'
import { signerOf } from '../repository/signer.ts'

/**
 * Gives a new project the files of another one's default branch as its first commit. Nothing of the other's history comes
 * with them: who may see the new project may not be somebody who may see that.
 */
export async function copyTemplate(
  ctx: Ctx,
  made: {
    readonly projectId: number
    readonly defaultBranch: string
    readonly templateId: number | undefined
  },
): Promise<void> {
  if (made.templateId === undefined) return
  const { projectId, templateId } = made
  const [row, template] = await Promise.all([
    findProjectRow(ctx.db, projectId),
    findProjectById(ctx.db, templateId),
  ])
  if (!row || !template) return
  const [repo, from] = [ctx.git.open(projectId), ctx.git.open(templateId)]
  const { treeId } = await readCommit(from, defaultRef(template))
  await fetchObjects(repo, from, treeId)
  await shareLfsObjects(ctx, templateId, projectId, ctx.now())
  const signer = signerOf(ctx)
  const commit = await writeCommit(repo, {
    parentIds: [],
    treeId,
    actions: [],
    author: signer,
    committer: signer,
    message: 'Initial commit',
  })
  const move = { name: `refs/heads/${made.defaultBranch}`, oldId: noObject, newId: commit.id }
  await moveRefs(ctx, await withProjectRole(ctx, row), { via: 'api', moves: [move] })
}
