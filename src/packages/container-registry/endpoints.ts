import { z } from 'zod'
import { onGroup, onProject } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { removeRepository } from '../images/remove-tags.ts'
import { onRepository, onRepositoryAlone } from './access.ts'
import { presentRepositories, repositoryEntity } from './entity.ts'
import { hasKeptTag } from './protected.ts'
import { listRepositories } from './queries.ts'

export const listProjectRegistryRepositories = endpoint({
  method: 'GET',
  path: '/projects/:id/registry/repositories',
  summary: 'List the repositories of images of a project',
  access: onProject('read_container_images'),
  scopes: ['api', 'read_api', 'read_registry'],
  jobToken: true,
  query: { tags: flag().optional(), tags_count: flag().optional(), size: flag().optional() },
  paginate: 'offset',
  response: z.array(repositoryEntity),
  async handler({ ctx, project, query, page }) {
    const found = await listRepositories(ctx.db, { projectId: project.id }, page)
    return { ...found, items: await presentRepositories(ctx, found.items, query) }
  },
})

export const listGroupRegistryRepositories = endpoint({
  method: 'GET',
  path: '/groups/:id/registry/repositories',
  summary: 'List the repositories of images of the projects of a group',
  access: onGroup('read_container_images'),
  scopes: ['api', 'read_api', 'read_registry'],
  query: { tags: flag().optional(), tags_count: flag().optional() },
  paginate: 'offset',
  response: z.array(repositoryEntity),
  async handler({ ctx, group, query, page }) {
    const place = { groupId: group.id, viewer: viewerOf(ctx) }
    const found = await listRepositories(ctx.db, place, page)
    return { ...found, items: await presentRepositories(ctx, found.items, query) }
  },
})

export const getRegistryRepository = endpoint({
  method: 'GET',
  path: '/registry/repositories/:id',
  summary: 'Get a repository of images',
  access: onRepositoryAlone(),
  scopes: ['api', 'read_api', 'read_registry'],
  jobToken: true,
  params: { id: id() },
  query: { tags: flag().optional(), tags_count: flag().optional(), size: flag().optional() },
  response: repositoryEntity,
  async handler({ ctx, repository, query }) {
    const [shown] = await presentRepositories(ctx, [repository], query)
    if (!shown) throw notFound('Repository')
    return shown
  },
})

export const deleteRegistryRepository = endpoint({
  method: 'DELETE',
  path: '/projects/:id/registry/repositories/:repository_id',
  summary: 'Delete a repository of images, in the background',
  access: onRepository('admin_container_images'),
  params: { repository_id: id() },
  status: 202,
  async handler({ ctx, project, repository }) {
    await inTransaction(ctx, async (inner) => {
      const isKept = await hasKeptTag(inner, project, repository.id)
      if (isKept) throw forbidden('Some of the tags are protected')
      await removeRepository(inner, repository)
    })
  },
})
