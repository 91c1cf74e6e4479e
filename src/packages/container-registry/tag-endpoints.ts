import { z } from 'zod'
import { later } from '../../base/clock.ts'
import { patternFault } from '../../base/patterns/check.ts'
import { badParameters, badRequest, existing, forbidden } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, id, integer, oneOf, parameter, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteTagsByPattern } from '../image-cleanup/run.ts'
import { spanOf } from '../image-cleanup/select-tags.ts'
import { keptTags } from '../image-protection/conditions.ts'
import { claimTagDeletion, removeTags } from '../images/remove-tags.ts'
import { onRepository, onTag } from './access.ts'
import { fullTagEntity, presentFullTag, presentTag, tagEntity } from './entity.ts'
import { findTagRow, listTagPage } from './queries.ts'

const ROOT = '/projects/:id/registry/repositories/:repository_id/tags'
const read = { scopes: ['api', 'read_api', 'read_registry'], jobToken: true } as const
const HOUR_MS = 3_600_000

const regex = parameter({ type: 'string' }, (raw) => {
  if (typeof raw !== 'string' || raw.length > 255) return fault.invalid
  return patternFault({ source: raw, whole: true }) === undefined ? raw : fault.invalid
})

const span = parameter({ type: 'string' }, (raw) =>
  typeof raw === 'string' && spanOf(raw) !== undefined ? raw : fault.invalid,
)

export const listRegistryTags = endpoint({
  ...read,
  method: 'GET',
  path: ROOT,
  summary: 'List the tags of a repository of images',
  access: onRepository('read_container_images'),
  params: { repository_id: id() },
  query: { sort: oneOf(['asc', 'desc']).optional() },
  paginate: { keyset: ['name'], defaultSort: 'asc' },
  response: z.array(tagEntity),
  async handler({ ctx, repository, query, page }) {
    const found = await listTagPage(ctx.db, repository.id, query.sort ?? 'asc', page)
    return { ...found, items: found.items.map((tag) => presentTag(ctx, repository, tag.name)) }
  },
})

export const getRegistryTag = endpoint({
  ...read,
  method: 'GET',
  path: `${ROOT}/:tag_name`,
  summary: 'Get a tag of a repository of images',
  access: onTag('read_container_images'),
  params: { repository_id: id(), tag_name: text({ max: 128 }) },
  response: fullTagEntity,
  handler: ({ ctx, repository, tag }) => presentFullTag(ctx, repository, tag),
})

export const deleteRegistryTag = endpoint({
  method: 'DELETE',
  path: `${ROOT}/:tag_name`,
  summary: 'Delete a tag of a repository of images',
  access: onTag('delete_container_image'),
  jobToken: true,
  params: { repository_id: id(), tag_name: text({ max: 128 }) },
  status: 200,
  async handler({ ctx, project, repository, tag }) {
    const keptAmong = await keptTags(ctx, project, 'delete')
    const kept = await keptAmong?.([tag.name])
    if (kept?.length) throw forbidden('The tag is protected')
    await inTransaction(ctx, async (inner) => {
      existing(await findTagRow(inner.db, repository.id, tag.name), 'Tag')
      await removeTags(inner, repository.id, [tag.name])
    })
  },
})

export const deleteRegistryTags = endpoint({
  method: 'DELETE',
  path: ROOT,
  summary: 'Delete the tags of a repository of images whose names match, in the background',
  access: onRepository('admin_container_images'),
  params: { repository_id: id() },
  query: {
    name_regex_delete: regex.optional(),
    name_regex: regex.optional(),
    name_regex_keep: regex.optional(),
    keep_n: integer({ min: 0, max: 100_000 }).optional(),
    older_than: span.optional(),
  },
  response: z.strictObject({ message: z.literal('202 Accepted') }),
  status: 202,
  async handler({ ctx, repository, query }) {
    const name_regex = query.name_regex_delete ?? query.name_regex
    if (name_regex === undefined) throw badParameters('name_regex_delete is missing')
    await inTransaction(ctx, async (inner) => {
      const since = later(inner.now(), -HOUR_MS)
      if (!(await claimTagDeletion(inner, repository.id, since))) {
        throw badRequest(
          'This request has already been made. You can run this at most once an hour for a given container repository',
        )
      }
      await inner.work.enqueue(inner.db, deleteTagsByPattern, {
        repositoryId: repository.id,
        name_regex,
        name_regex_keep: query.name_regex_keep ?? null,
        keep_n: query.keep_n ?? null,
        older_than: query.older_than ?? null,
      })
    })
    return { message: '202 Accepted' as const }
  },
})
