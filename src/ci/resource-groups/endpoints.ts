import { z } from 'zod'
import { projectRecord } from '../../access/records.ts'
import { onProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { listPage } from '../../store/pages.ts'
import { jobEntity, jobPresenter } from '../pipelines/job-entity.ts'
import { upcomingJobs } from '../pipelines/process/running.ts'
import {
  findResourceGroup,
  insertNamedGroups,
  listResourceGroups,
  type ResourceGroupRow,
  updateResourceGroup,
} from './queries.ts'

const path = '/projects/:id/resource_groups'
const MODES = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const

const resourceGroupEntity = z.strictObject({
  id: z.int(),
  key: z.string(),
  process_mode: z.enum(MODES),
  created_at: z.string(),
  updated_at: z.string(),
})

function present(row: ResourceGroupRow): z.input<typeof resourceGroupEntity> {
  const { id, key, process_mode, created_at, updated_at } = row
  return { id, key, process_mode, created_at, updated_at }
}

/** Makes the groups that jobs have named, with the mode that the project has for new ones. */
async function addNamed(ctx: Ctx, project: Project): Promise<void> {
  const mode = projectSetting(project, 'resource_group_default_process_mode')
  const known = MODES.find((one) => one === mode) ?? 'unordered'
  await insertNamedGroups(ctx.db, project.id, known, ctx.now())
}

const onResourceGroup = projectRecord('admin_resource_groups', {
  params: { key: text({ max: 255 }) },
  async find({ ctx, project, params }) {
    await addNamed(ctx, project)
    const group = await findResourceGroup(ctx.db, project.id, params.key)
    if (!group) throw notFound('Resource Group')
    return { group }
  },
})

export const listProjectResourceGroups = endpoint({
  method: 'GET',
  path,
  summary: 'List the resource groups of a project',
  access: onProject('admin_resource_groups'),
  paginate: 'offset',
  response: z.array(resourceGroupEntity),
  async handler({ ctx, project, page }) {
    await addNamed(ctx, project)
    const rows = await listResourceGroups(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map(present) }
  },
})

export const getResourceGroup = endpoint({
  method: 'GET',
  path: `${path}/:key`,
  summary: 'Read a resource group',
  access: onResourceGroup(),
  response: resourceGroupEntity,
  handler: ({ group }) => present(group),
})

export const editResourceGroup = endpoint({
  method: 'PUT',
  path: `${path}/:key`,
  summary: 'Update the order in which jobs of a resource group run',
  access: onResourceGroup(),
  body: { process_mode: oneOf(MODES).optional() },
  response: resourceGroupEntity,
  async handler({ ctx, group, body }) {
    const mode = body.process_mode ?? group.process_mode
    return present(await updateResourceGroup(ctx.db, group.id, mode, ctx.now()))
  },
})

export const listUpcomingJobs = endpoint({
  method: 'GET',
  path: `${path}/:key/upcoming_jobs`,
  summary: 'List the upcoming jobs of a resource group',
  access: onResourceGroup(),
  paginate: 'offset',
  response: z.array(jobEntity),
  async handler({ ctx, project, group, page }) {
    const rows = await listPage(ctx.db, upcomingJobs(ctx.db, project.id, group.key), page)
    const presenter = await jobPresenter(ctx, project, rows.items)
    return { ...rows, items: rows.items.map((row) => presenter.job(row)) }
  },
})
