import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { prepareEffects } from '../../base/effects.ts'
import { existing, notFound, unprocessable } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { isTagName } from '../../git/names.ts'
import { findTag, listTags, type TagRef } from '../../git/refs/tags.ts'
import type { Repo } from '../../git/repo.ts'
import { noObject } from '../../git/types.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { tagProtection } from '../refs/branch-state.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { codeRead, onWritableCode } from '../repository/access.ts'
import { rangeOf } from '../repository/names-page.ts'
import { getSignature, signatureEntity } from '../repository/signature.ts'
import { createTag } from './create-tag.ts'
import { presentTag, tagEntity } from './entity.ts'
import { listReleasesOfTags } from './queries.ts'

const hidden = { hidden: true } as const

async function presentTags(ctx: Ctx, project: Project, tags: readonly TagRef[]) {
  const isProtected = await tagProtection(ctx, project)
  const names = tags.map((tag) => tag.name)
  const releases = await listReleasesOfTags(ctx.db, project.id, names)
  return tags.map((tag) => {
    const release = releases.find(({ tag_name }) => tag_name === tag.name)
    return presentTag(ctx, project, tag, { isProtected: isProtected(tag.name), release })
  })
}

async function presentOne(ctx: Ctx, project: Project, tag: TagRef) {
  const [shown] = await presentTags(ctx, project, [tag])
  return existing(shown)
}

export const listRepositoryTags = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags',
  summary: 'List tags',
  ...codeRead(hidden),
  jobToken: true,
  query: {
    order_by: oneOf(['updated', 'name', 'version']).default('updated'),
    sort: oneOf(['desc', 'asc']).default('desc'),
    search: text().optional(),
  },
  paginate: { token: 'page_token' },
  response: z.array(tagEntity),
  async handler({ ctx, project, repo, query, page, request }) {
    const { order_by: orderBy, sort, search } = query
    const asked = { orderBy, sort, search, ...rangeOf(page) }
    const found = await listTags(repo, asked, request.signal).catch((error: unknown) => {
      if (!(error instanceof GitError) || error.code !== 'invalid') throw error
      throw unprocessable('page_token is invalid')
    })
    const items = await presentTags(ctx, project, found.items)
    const nextToken = found.more ? items.at(-1)?.name : undefined
    return { items, total: found.total, nextToken }
  },
})

export const getRepositoryTag = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name',
  summary: 'Read a tag',
  ...codeRead(hidden),
  jobToken: true,
  params: { tag_name: text() },
  response: tagEntity,
  async handler({ ctx, project, repo, params, request }) {
    const tag = await getTag(repo, params.tag_name, request.signal)
    return presentOne(ctx, project, tag)
  },
})

export const getRepositoryTagSignature = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name/signature',
  summary: 'Read the signature of an annotated tag',
  ...codeRead(hidden),
  params: { tag_name: text() },
  response: signatureEntity,
  async handler({ ctx, repo, params, request }) {
    const tag = await getTag(repo, params.tag_name, request.signal)
    // A lightweight tag has none of its own: its commit's is not the tag's.
    if (!tag.tag) throw notFound('Signature')
    const { email = '', date = '' } = tag.tag.tagger ?? {}
    return await getSignature(ctx, { repo, id: tag.id, email, date, signal: request.signal })
  },
})

export const createRepositoryTag = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/tags',
  summary: 'Create a tag, annotated when a message is given',
  access: onWritableCode('create_tag', hidden),
  body: { tag_name: text(), ref: text(), message: text().optional() },
  response: tagEntity,
  async handler({ ctx, project, repo, body }) {
    await createTag(ctx, project, { name: body.tag_name, ref: body.ref, message: body.message })
    return presentOne(ctx, project, await getTag(repo, body.tag_name))
  },
})

export const deleteRepositoryTag = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/tags/:tag_name',
  summary: 'Delete a tag',
  access: onWritableCode('create_tag', hidden),
  params: { tag_name: text() },
  async handler({ ctx, project, repo, params, request }) {
    const tag = await getTag(repo, params.tag_name)
    if (tag.commit) assertUnmodifiedSince(request, tag.commit.author.date)
    const move = { name: `refs/tags/${tag.name}`, oldId: tag.id, newId: noObject }
    const follow = await prepareEffects(ctx, ctx.effects.tagDeleted, { project, tag: tag.name })
    await moveRefs(ctx, project, { via: 'api', moves: [move] })
    await inTransaction(ctx, (ctx) => follow(ctx, undefined))
  },
})

/** A tag by name, or 404 `404 Tag Not Found`. */
async function getTag(repo: Repo, name: string, signal?: AbortSignal): Promise<TagRef> {
  return existing(isTagName(name) ? await findTag(repo, name, signal) : undefined, 'Tag')
}
