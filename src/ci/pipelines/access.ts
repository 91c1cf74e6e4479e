import { isAdmin } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { Role } from '../../access/roles.ts'
import { type Access, onProject, type Project } from '../../access/subjects.ts'
import { forbidden, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { mayRunOn } from './create/find-ref.ts'
import { findPipeline, type PipelineRow } from './queries.ts'

/** Whether the caller may read pipelines and jobs: Reporters, and everybody while they are public (docs/contract/D §2.2). */
export function mayReadBuilds(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  const isReporter = project.role >= Role.reporter || isAdmin(ctx.actor)
  if (isReporter) return mayInProject(ctx.actor, project, 'read_builds')
  return (
    projectSetting(project, 'public_jobs') && mayInProject(ctx.actor, project, 'read_public_builds')
  )
}

/** The project of `:id`, for those who may read its pipelines. */
export function onBuilds(
  options: { readonly signedIn?: boolean } = {},
): Access<{ project: Project }> {
  const visible = onProject('read_project', options)
  return {
    ...visible,
    needs: 'read_public_builds',
    async find(request) {
      const found = await visible.find(request)
      if (mayReadBuilds(request.ctx, found.project)) return found
      throw request.ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
    },
  }
}

/** The pipeline of a project, or 404. */
export async function getPipeline(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  id: number,
): Promise<PipelineRow> {
  const row = await findPipeline(ctx.db, id)
  if (row?.project_id !== project.id) throw notFound()
  return row
}

/** A pipeline of the project, for those who may do a thing to it. */
export const onPipeline = projectRecord('create_pipeline', {
  params: { pipeline_id: id() },
  find: async ({ ctx, project, params }) => ({
    pipeline: await getPipeline(ctx, project, params.pipeline_id),
  }),
})

interface OnRef {
  readonly ctx: Ctx
  readonly project: Project
  readonly pipeline: Pick<PipelineRow, 'ref' | 'tag'>
}

/** What runs on a protected ref is for those who may push or merge into it (docs/contract/D §2.2). */
export const runsOnRef: Condition<OnRef> = condition(
  'may run pipelines on the ref',
  async ({ ctx, project, pipeline: { ref, tag } }) =>
    (await mayRunOn(ctx, project, { ref, tag: tag === 1 })) || forbidden(),
)

/** Whether the caller may run pipelines of a project at all. */
export function mayRunPipelines(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'create_pipeline')
}

/** Whether configurations of the caller may include files of a project. */
export function mayIncludeFrom(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'download_code')
}

const LEAST_ROLES = {
  no_one_allowed: Role.admin,
  developer: Role.developer,
  maintainer: Role.maintainer,
  owner: Role.owner,
} as const

/** Whether the caller may give variables to the pipelines that they run (docs/contract/D §1.15). */
export function maySetRunVariables(project: Project): boolean {
  const asked = projectSetting(project, 'ci_pipeline_variables_minimum_override_role')
  const restricted = projectSetting(project, 'restrict_user_defined_variables')
  const least = restricted ? Math.max(Role.maintainer, LEAST_ROLES[asked]) : LEAST_ROLES[asked]
  return project.role >= least
}
