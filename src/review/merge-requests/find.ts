import type { Project } from '../../access/subjects.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { mergeRequestUrl } from './present.ts'
import { findById, findByIid } from './queries.ts'
import type { MergeRequestRow } from './row.ts'

/** The merge request of a project by its number; 404 when there is none. */
export async function getMergeRequest(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  iid: number,
): Promise<MergeRequestRow> {
  return existing(await findByIid(ctx.db, project.id, iid))
}

/** The merge request of an id that we know; 404 when somebody has deleted it meanwhile. */
export async function reload(ctx: Ctx, id: number): Promise<MergeRequestRow> {
  return existing(await findById(ctx.db, id))
}

/** The merge request as notes see it. */
export function noteableOf(
  ctx: Pick<Ctx, 'config'>,
  project: Project,
  row: MergeRequestRow,
): Noteable {
  return {
    type: 'MergeRequest',
    id: row.id,
    commitId: null,
    iid: row.iid,
    project,
    authorId: row.author_id,
    locked: row.discussion_locked === 1,
    title: row.title,
    webUrl: mergeRequestUrl(ctx, row),
  }
}
