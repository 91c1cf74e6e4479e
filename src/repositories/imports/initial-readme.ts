import { withProjectRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { noObject } from '../../git/types.ts'
import { writeCommit } from '../../git/write/write-commit.ts'
import { findProjectRow } from '../../projects/projects/list/queries.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { signerOf } from '../repository/signer.ts'

/** Gives a new project its first commit, where that is asked for: a README with its name and description. */
export async function writeReadme(
  ctx: Ctx,
  about: {
    readonly projectId: number
    readonly name: string
    readonly description: string | null
    readonly defaultBranch: string
    readonly withReadme: boolean
  },
): Promise<void> {
  if (!about.withReadme) return
  const { projectId } = about
  const row = await findProjectRow(ctx.db, projectId)
  if (!row) return
  const signer = signerOf(ctx)
  const text = [`# ${about.name}`, ...(about.description ? [about.description] : [])].join('\n\n')
  const commit = await writeCommit(ctx.git.open(projectId), {
    parentIds: [],
    actions: [{ kind: 'create', path: 'README.md', content: Buffer.from(`${text}\n`) }],
    author: signer,
    committer: signer,
    message: 'Initial commit',
  })
  const move = { name: `refs/heads/${about.defaultBranch}`, oldId: noObject, newId: commit.id }
  await moveRefs(ctx, await withProjectRole(ctx, row), { via: 'api', moves: [move] })
}
