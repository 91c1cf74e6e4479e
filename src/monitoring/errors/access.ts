import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import type { Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { findError } from './queries.ts'

export const onError = projectRecord('read_errors', {
  params: { error_id: id() },
  async find({ ctx, project, params }) {
    const error = await findError(ctx.db, project.id, params.error_id)
    if (!error) throw notFound('Error')
    return { error }
  },
})

/** Whether the caller is shown where in the repository an error comes from. */
export function maySeeCode(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'read_code')
}
