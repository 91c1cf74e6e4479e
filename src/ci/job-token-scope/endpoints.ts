import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import {
  findVisibleGroup,
  findVisibleProject,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import { badRequest, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { flag, id } from '../../http/params.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import {
  deleteAllowed,
  insertAllowed,
  isAllowed,
  isInboundLimited,
  listAllowed,
  saveInbound,
  type TargetKind,
} from './queries.ts'

const path = '/projects/:id/job_token_scope'
const projects = `${path}/allowlist` as const
const groups = `${path}/groups_allowlist` as const

/** A project or group on a list, in short; what the caller may not see shows by its id alone. */
const targetEntity = z.strictObject({
  id: z.int(),
  name: z.string().nullable(),
  path: z.string().nullable(),
  full_path: z.string().nullable(),
  path_with_namespace: z.string().nullable(),
  web_url: z.string().nullable(),
})

async function presentTarget(ctx: Ctx, kind: TargetKind, targetId: number) {
  const find = kind === 'project' ? findVisibleProject : findVisibleGroup
  const found = await find(ctx, String(targetId))
  const folder = kind === 'group' ? 'groups/' : ''
  return {
    id: targetId,
    name: found?.name ?? null,
    path: found?.path ?? null,
    full_path: found?.full_path ?? null,
    path_with_namespace: found?.full_path ?? null,
    web_url: found ? `${ctx.config.externalUrl}/${folder}${found.full_path}` : null,
  }
}

async function listTargets(ctx: Ctx, project: Project, kind: TargetKind, page: OffsetPage) {
  const ids = await listAllowed(ctx.db, project.id, kind, page)
  return { ...ids, items: await Promise.all(ids.items.map((id) => presentTarget(ctx, kind, id))) }
}

async function getTarget(ctx: Ctx, project: Project, kind: TargetKind, targetId: number) {
  if (!(await isAllowed(ctx.db, project.id, kind, targetId))) throw notFound()
  return await presentTarget(ctx, kind, targetId)
}

async function addTarget(
  ctx: Ctx,
  project: Project,
  kind: TargetKind,
  targetId: number,
): Promise<void> {
  const find = kind === 'project' ? findVisibleProject : findVisibleGroup
  if (!(await find(ctx, String(targetId)))) throw notFound()
  if (kind === 'project' && targetId === project.id) {
    throw badRequest('the source project cannot be added to its own allowlist')
  }
  const taken = () => badRequest('This is already on the job token allowlist')
  const column = `target_${kind}_id`
  await uniquely(
    { [`ci_job_token_allowed.project_id, ci_job_token_allowed.${column}`]: taken },
    () =>
      inTransaction(ctx, async (ctx) => {
        const addedBy = userOf(ctx.actor)?.id ?? null
        await insertAllowed(ctx.db, { projectId: project.id, kind, targetId, addedBy }, ctx.now())
        await noteChange(ctx, project, 'job_token_scope_added', { [column]: targetId })
      }),
  )
}

async function dropTarget(ctx: Ctx, project: Project, kind: TargetKind, targetId: number) {
  await inTransaction(ctx, async (ctx) => {
    if (!(await deleteAllowed(ctx.db, project.id, kind, targetId))) throw notFound()
    await noteChange(ctx, project, 'job_token_scope_removed', { [`target_${kind}_id`]: targetId })
  })
}

async function noteChange(
  ctx: Ctx,
  project: Project,
  action: string,
  details: Readonly<Record<string, number | boolean>>,
): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id: project.id }, action, details })
}

export const getJobTokenScope = endpoint({
  method: 'GET',
  path,
  summary: 'Get the job token access settings of a project',
  access: onProject('read_job_token_scope'),
  response: z.strictObject({ inbound_enabled: z.boolean(), outbound_enabled: z.boolean() }),
  handler: async ({ ctx, project }) => ({
    inbound_enabled: await isInboundLimited(ctx.db, project.id),
    outbound_enabled: projectSetting(project, 'ci_job_token_scope_enabled'),
  }),
})

export const changeJobTokenScope = endpoint({
  method: 'PATCH',
  path,
  summary: 'Update the job token access settings of a project',
  access: onProject('admin_job_token_scope'),
  body: { enabled: flag() },
  async handler({ ctx, project, body }) {
    await inTransaction(ctx, async (ctx) => {
      await saveInbound(ctx.db, project.id, body.enabled)
      await noteChange(ctx, project, 'job_token_scope_changed', { enabled: body.enabled })
    })
  },
})

export const listAllowedProjects = endpoint({
  method: 'GET',
  path: projects,
  summary: 'List the projects on the job token allowlist',
  access: onProject('read_job_token_scope'),
  paginate: 'offset',
  response: z.array(targetEntity),
  handler: ({ ctx, project, page }) => listTargets(ctx, project, 'project', page),
})

export const allowProject = endpoint({
  method: 'POST',
  path: projects,
  summary: 'Add a project to the job token allowlist',
  access: onProject('admin_job_token_scope'),
  body: { target_project_id: id() },
  response: z.strictObject({ source_project_id: z.int(), target_project_id: z.int() }),
  status: 201,
  async handler({ ctx, project, body }) {
    await addTarget(ctx, project, 'project', body.target_project_id)
    return { source_project_id: project.id, target_project_id: body.target_project_id }
  },
})

export const getAllowedProject = endpoint({
  method: 'GET',
  path: `${projects}/:target_project_id`,
  summary: 'Get a project of the job token allowlist',
  access: onProject('read_job_token_scope'),
  params: { target_project_id: id() },
  response: targetEntity,
  async handler({ ctx, project, params }) {
    return await getTarget(ctx, project, 'project', params.target_project_id)
  },
})

export const disallowProject = endpoint({
  method: 'DELETE',
  path: `${projects}/:target_project_id`,
  summary: 'Remove a project from the job token allowlist',
  access: onProject('admin_job_token_scope'),
  params: { target_project_id: id() },
  handler: ({ ctx, project, params }) =>
    dropTarget(ctx, project, 'project', params.target_project_id),
})

const groupForms = [groups, `${path}/allowlist/groups_allowlist` as const]

/** Groups have a list of their own; clients ask for it by two paths. */
export const allowedGroups = groupForms.flatMap((list) => [
  endpoint({
    method: 'GET',
    path: list,
    summary: 'List the groups on the job token allowlist',
    access: onProject('read_job_token_scope'),
    paginate: 'offset',
    response: z.array(targetEntity),
    handler: ({ ctx, project, page }) => listTargets(ctx, project, 'group', page),
  }),
  endpoint({
    method: 'POST',
    path: list,
    summary: 'Add a group to the job token allowlist',
    access: onProject('admin_job_token_scope'),
    body: { target_group_id: id() },
    response: z.strictObject({ source_project_id: z.int(), target_group_id: z.int() }),
    status: 201,
    async handler({ ctx, project, body }) {
      await addTarget(ctx, project, 'group', body.target_group_id)
      return new Answer({
        source_project_id: project.id,
        target_group_id: body.target_group_id,
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: `${list}/:target_group_id`,
    summary: 'Get a group of the job token allowlist',
    access: onProject('read_job_token_scope'),
    params: { target_group_id: id() },
    response: targetEntity,
    async handler({ ctx, project, params }) {
      return await getTarget(ctx, project, 'group', params.target_group_id)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${list}/:target_group_id`,
    summary: 'Remove a group from the job token allowlist',
    access: onProject('admin_job_token_scope'),
    params: { target_group_id: id() },
    handler: ({ ctx, project, params }) =>
      dropTarget(ctx, project, 'group', params.target_group_id),
  }),
])
