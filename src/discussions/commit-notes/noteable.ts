import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Commit } from '../../git/types.ts'
import { titleOf } from '../../repositories/commits/entity.ts'
import { projectUrl } from '../../repositories/repository/access.ts'
import type { Noteable } from '../notes/noteable.ts'

/** A commit as something that comments hang on. */
export function commitNoteable(
  ctx: Pick<Ctx, 'config'>,
  project: Project,
  commit: Commit,
): Noteable {
  return {
    type: 'Commit',
    id: null,
    commitId: commit.id,
    iid: null,
    project,
    authorId: null,
    locked: false,
    title: titleOf(commit),
    webUrl: `${projectUrl(ctx, project)}/-/commit/${commit.id}`,
  }
}
