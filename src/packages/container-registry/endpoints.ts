import { z } from 'zod'
import { onGroup, onProject } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag } from '../../http/params.ts'
import { presentRepositories, repositoryEntity } from './entity.ts'
import { listRepositories } from './queries.ts'

const tags = ['container_registry']

export const listProjectRegistryRepositories = endpoint({
  method: 'GET',
  path: '/projects/:id/registry/repositories',
  summary: 'List the repositories of images of a project',
  tags,
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
  tags,
  access: onGroup('read_container_images'),
  scopes: ['api', 'read_api', 'read_registry'],
  query: { tags: flag().optional(), tags_count: flag().optional() },
  paginate: 'offset',
  response: z.array(repositoryEntity),
  async handler({ ctx, group, query, page }) {
    const place = { groupId: group.id, viewer: viewerOf(ctx.actor, dayOf(ctx.now())) }
    const found = await listRepositories(ctx.db, place, page)
    return { ...found, items: await presentRepositories(ctx, found.items, query) }
  },
})
