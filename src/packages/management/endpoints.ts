import { z } from 'zod'
import { findVisibleProject, onGroup, onProject } from '../../access/subjects.ts'
import { groupBy } from '../../base/group-by.ts'
import { forbidden } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { mayReadBuilds } from '../../ci/pipelines/access.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { flag, integer, oneOf, text } from '../../http/params.ts'
import { answerPackageFile } from '../registry/download.ts'
import { DISPLAYED, INSTALLABLE, PACKAGE_STATUSES, PACKAGE_TYPES } from '../registry/packages.ts'
import { removeFiles } from '../registry/remove.ts'
import { fileParams, onDeletablePackage, onPackage, params, withFile } from './access.ts'
import { deletePackage } from './delete-package.ts'
import {
  fullPackageEntity,
  packageEntity,
  packageFileEntity,
  packagePipelineEntity,
  presentBuilds,
  presentFullPackage,
  presentPackageFile,
  presentPackages,
  presentProjectOf,
} from './entity.ts'
import {
  type ListedPackage,
  listFilePage,
  listPackages,
  listPipelinePage,
  listPipelinesOfFiles,
} from './queries.ts'

const filters = {
  sort: oneOf(['asc', 'desc']).optional(),
  package_type: oneOf(PACKAGE_TYPES).optional(),
  package_name: text({ max: 5000 }).optional(),
  package_version: text({ max: 255 }).optional(),
  include_versionless: flag().optional(),
  status: oneOf(PACKAGE_STATUSES).optional(),
}

export const listProjectPackages = endpoint({
  method: 'GET',
  path: '/projects/:id/packages',
  summary: 'List the packages of a project',
  access: onProject('read_packages'),
  jobToken: true,
  query: { ...filters, order_by: oneOf(['created_at', 'name', 'version', 'type']).optional() },
  paginate: 'offset',
  response: z.array(packageEntity),
  async handler({ ctx, project, query, page }) {
    const found = await listPackages(ctx, { projectId: project.id }, query, page)
    return { ...found, items: await presentPackages(ctx, project, found.items) }
  },
})

export const listGroupPackages = endpoint({
  method: 'GET',
  path: '/groups/:id/packages',
  summary: 'List the packages of the projects of a group',
  access: onGroup('read_packages'),
  query: {
    ...filters,
    order_by: oneOf(['created_at', 'name', 'version', 'type', 'project_path']).optional(),
    exclude_subgroups: flag().optional(),
  },
  paginate: 'offset',
  response: z.array(packageEntity),
  async handler({ ctx, group, query, page }) {
    const place = { groupId: group.id, withSubgroups: !query.exclude_subgroups }
    const found = await listPackages(ctx, place, query, page)
    return { ...found, items: await presentOfProjects(ctx, found.items) }
  },
})

async function presentOfProjects(ctx: Ctx, rows: readonly ListedPackage[]) {
  const shown = new Map<number, z.input<typeof packageEntity>>()
  for (const [projectId, own] of groupBy(rows, (row) => row.project_id)) {
    const project = await findVisibleProject(ctx, String(projectId), 'read_packages')
    if (!project) continue
    const of = presentProjectOf(ctx, project)
    for (const one of await presentPackages(ctx, project, own)) shown.set(one.id, { ...one, ...of })
  }
  return rows.map((row) => shown.get(row.id)).filter((one) => one !== undefined)
}

export const getPackage = endpoint({
  method: 'GET',
  path: '/projects/:id/packages/:package_id',
  summary: 'Get a package, with the other versions of its name',
  access: onPackage(DISPLAYED),
  jobToken: true,
  params,
  response: fullPackageEntity,
  handler: ({ ctx, project, found }) => presentFullPackage(ctx, project, found),
})

export const removePackageEndpoint = endpoint({
  method: 'DELETE',
  path: '/projects/:id/packages/:package_id',
  summary: 'Delete a package',
  access: onDeletablePackage(),
  jobToken: true,
  params,
  async handler({ ctx, project, found, request }) {
    assertUnmodifiedSince(request, found.updated_at)
    await deletePackage(ctx, project, found)
  },
})

export const listPackagePipelines = endpoint({
  method: 'GET',
  path: '/projects/:id/packages/:package_id/pipelines',
  summary: 'List the pipelines that published a package',
  access: onPackage(DISPLAYED),
  jobToken: true,
  params,
  query: { per_page: integer({ min: 1, max: 20 }).optional() },
  paginate: { keyset: ['id'], defaultSort: 'desc', offset: false },
  response: z.array(packagePipelineEntity),
  async handler({ ctx, project, found, page }) {
    if (ctx.actor.kind !== 'job' && !mayReadBuilds(ctx, project)) throw forbidden()
    const rows = await listPipelinePage(ctx.db, found.id, page)
    const shown = await presentBuilds(ctx, project, new Map([[found.id, rows.items]]))
    return { ...rows, items: shown.get(found.id) ?? [] }
  },
})

export const listPackageFiles = endpoint({
  method: 'GET',
  path: '/projects/:id/packages/:package_id/package_files',
  summary: 'List the files of a package',
  access: onPackage(),
  jobToken: true,
  params,
  query: {
    order_by: oneOf(['id', 'file_name', 'created_at']).optional(),
    sort: oneOf(['asc', 'desc']).optional(),
  },
  paginate: 'offset',
  response: z.array(packageFileEntity),
  async handler({ ctx, project, found, query, page }) {
    const order = { by: query.order_by ?? 'id', sort: query.sort ?? 'asc' }
    const rows = await listFilePage(ctx.db, found.id, order, page)
    const ids = rows.items.map((row) => row.id)
    const builds =
      mayReadBuilds(ctx, project) &&
      (await presentBuilds(ctx, project, await listPipelinesOfFiles(ctx.db, ids)))
    const items = rows.items.map((row) =>
      presentPackageFile(row, builds ? (builds.get(row.id) ?? []) : undefined),
    )
    return { ...rows, items }
  },
})

export const downloadPackageFile = endpoint({
  method: 'GET',
  path: '/projects/:id/packages/:package_id/package_files/:package_file_id/download',
  summary: 'Download a file of a package',
  access: withFile(onPackage(INSTALLABLE)),
  jobToken: true,
  params: fileParams,
  response: bytes('application/octet-stream'),
  handler: ({ ctx, file, request }) =>
    answerPackageFile(ctx, request, file, { fileName: file.file_name.split('%2F').at(-1) ?? '' }),
})

export const removePackageFile = endpoint({
  method: 'DELETE',
  path: '/projects/:id/packages/:package_id/package_files/:package_file_id',
  summary: 'Delete a file of a package',
  access: withFile(onDeletablePackage()),
  jobToken: true,
  params: fileParams,
  async handler({ ctx, project, found, file, request }) {
    assertUnmodifiedSince(request, file.updated_at)
    await removeFiles(ctx, project, found, [file])
  },
})
