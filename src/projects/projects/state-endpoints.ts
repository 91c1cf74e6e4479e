import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { dayOf, later } from '../../base/clock.ts'
import { conflict, hidden, notModified } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { streamSnapshot } from '../../git/transfer/snapshot.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { flag, id, oneOf, text } from '../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { createsProjectIn } from './create/access.ts'
import { projectBasicEntity, projectEntity } from './entity.ts'
import { freshLanguages } from './facts/measure.ts'
import { listFetches } from './facts/queries.ts'
import { readProject } from './present.ts'
import { deleteStar, insertStar, isTaskWaiting, listStarrers } from './queries.ts'
import { saveState } from './record.ts'
import { tidyRepository } from './tasks.ts'
import { transferProject } from './transfer-project.ts'

const anyProject = projectEntity.or(projectBasicEntity)

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${verb}`,
    summary,
    access: onProject('archive_project'),
    response: anyProject,
    async handler({ ctx, project }) {
      await saveState(ctx, project.id, `${verb}d`)
      return await readProject(ctx, project.id)
    },
  })

export const archiveProject = archiving('archive', 'Make a project read-only')
export const unarchiveProject = archiving('unarchive', 'Make an archived project writable again')

export const starProject = endpoint({
  method: 'POST',
  path: '/projects/:id/star',
  summary: 'Star a project',
  access: onProject('read_project', { signedIn: true }),
  response: anyProject,
  async handler({ ctx, project }) {
    const star = { user_id: callerId(ctx), project_id: project.id, created_at: ctx.now() }
    if (!(await insertStar(ctx.db, star))) throw notModified()
    return await readProject(ctx, project.id)
  },
})

export const unstarProject = endpoint({
  method: 'POST',
  path: '/projects/:id/unstar',
  summary: 'Take a star back',
  access: onProject('read_project', { signedIn: true }),
  response: anyProject,
  async handler({ ctx, project }) {
    if (!(await deleteStar(ctx.db, callerId(ctx), project.id))) throw notModified()
    return await readProject(ctx, project.id)
  },
})

export const getStarrers = endpoint({
  method: 'GET',
  path: '/projects/:id/starrers',
  summary: 'List the users who starred a project',
  access: onProject('read_project'),
  query: { search: text().optional() },
  paginate: 'offset',
  response: z.array(z.strictObject({ starred_since: z.string(), user: userBasicEntity })),
  async handler({ ctx, project, query, page }) {
    const rows = await listStarrers(ctx.db, project.id, query.search, page)
    const items = rows.items.map(({ starred_since, ...user }) => ({
      starred_since,
      user: presentUserBasic(ctx, user),
    }))
    return { ...rows, items }
  },
})

export const getLanguages = endpoint({
  method: 'GET',
  path: '/projects/:id/languages',
  summary: 'Get the languages of a project in percent',
  access: onProject('read_code'),
  response: z.record(z.string(), z.number()),
  handler: ({ ctx, project }) => freshLanguages(ctx, project),
})

export const getProjectStatistics = endpoint({
  method: 'GET',
  path: '/projects/:id/statistics',
  summary: 'Count the clones and fetches of the last 30 days',
  access: onProject('push_code'),
  response: z.strictObject({
    fetches: z.strictObject({
      total: z.int(),
      days: z.array(z.strictObject({ count: z.int(), date: z.string() })),
    }),
  }),
  async handler({ ctx, project }) {
    const days = await listFetches(ctx.db, project.id, dayOf(later(ctx.now(), -29 * 86_400_000)))
    const total = days.reduce((sum, one) => sum + one.count, 0)
    return { fetches: { total, days: days.map(({ count, date }) => ({ count, date })) } }
  },
})

export const getStorage = endpoint({
  method: 'GET',
  path: '/projects/:id/storage',
  summary: 'Get where the repository of a project lies',
  access: onProject('admin_only'),
  response: z.strictObject({
    project_id: z.int(),
    disk_path: z.string(),
    created_at: z.string(),
    repository_storage: z.string(),
  }),
  handler: ({ ctx, project }) => ({
    project_id: project.id,
    disk_path: ctx.git
      .open(project.id)
      .path.slice(ctx.config.data.length + 1)
      .replace(/\.git$/, ''),
    created_at: project.created_at,
    repository_storage: 'default',
  }),
})

export const getSnapshot = endpoint({
  method: 'GET',
  path: '/projects/:id/snapshot',
  summary: 'Download the bare repository of a project or of its wiki as it lies on disk',
  access: onProject('admin_only'),
  query: { wiki: flag().optional() },
  response: bytes('application/x-tar'),
  async handler({ ctx, project, query }) {
    const name = query.wiki ? ({ kind: 'project_wiki', id: project.id } as const) : project.id
    if (!(await ctx.git.exists(name))) throw hidden()
    return { body: streamSnapshot(ctx.git.open(name)), type: 'application/x-tar' }
  },
})

export const postHousekeeping = endpoint({
  method: 'POST',
  path: '/projects/:id/housekeeping',
  summary: 'Tidy the repository of a project',
  access: onProject('admin_housekeeping'),
  body: { task: oneOf(['eager', 'prune']).optional() },
  response: z.strictObject({}),
  async handler({ ctx, project, body }) {
    await startHousekeeping(ctx, project.id, body.task ?? 'eager')
    return {}
  },
})

export const putTransfer = endpoint({
  method: 'PUT',
  path: '/projects/:id/transfer',
  summary: 'Move a project to another namespace',
  access: onProject('transfer_project'),
  body: { namespace: id().or(text()) },
  conditions: [createsProjectIn('namespace')],
  response: anyProject,
  async handler({ ctx, project, body }) {
    await transferProject(ctx, project.id, body.namespace)
    return await readProject(ctx, project.id)
  },
})

/** Enqueues the tidying of a repository; 409 while one waits or runs. */
async function startHousekeeping(
  ctx: Ctx,
  projectId: number,
  how: 'eager' | 'prune',
): Promise<void> {
  const uniqueKey = String(projectId)
  if (await isTaskWaiting(ctx.db, tidyRepository.name, uniqueKey)) {
    throw conflict('409 Conflict: Housekeeping has already been triggered')
  }
  await ctx.work.enqueue(ctx.db, tidyRepository, { project_id: projectId, how }, { uniqueKey })
}
