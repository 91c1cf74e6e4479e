import { z } from 'zod'
import { badParameters } from '../../base/problem.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { flag, oneOf, text } from '../../http/params.ts'
import { codeRead, refOrDefault } from './access.ts'
import { answerArchive, archiveQuery } from './answer-archive.ts'
import { readHeldBlob, streamBlobJson } from './blob-json.ts'
import { countLargeBlob } from './blob-limit.ts'
import { blobEntity, presentBlob, presentTreeEntry, treeEntryEntity } from './entity.ts'
import { listTree, listWholeTree } from './list-tree.ts'
import { orNotFound } from './missing.ts'
import { answerBlob } from './raw.ts'

export const getTree = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tree',
  summary: 'List the files and folders of a repository',
  ...codeRead(),
  query: {
    path: text().optional(),
    ref: text().optional(),
    recursive: flag().default(false),
    pagination: oneOf(['legacy', 'keyset', 'none']).default('legacy'),
  },
  paginate: { token: 'page_token', whole: true },
  response: z.array(treeEntryEntity),
  async handler({ project, repo, query, page, request }) {
    if (query.pagination === 'none' && !query.recursive) {
      throw badParameters('pagination cannot be "none" unless "recursive" is true')
    }
    const asked = {
      ref: refOrDefault(project, query.ref),
      path: query.path ?? '',
      recursive: query.recursive,
    }
    if (page.kind === 'whole') return await listWholeTree(repo, asked, request.signal)
    const listing = await listTree(repo, asked, page, request.signal)
    return { ...listing, items: listing.items.map(presentTreeEntry) }
  },
})

export const getBlob = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha',
  summary: 'Read a blob by its id',
  ...codeRead(),
  params: { sha: text() },
  response: blobEntity,
  async handler({ ctx, project, repo, params, request }) {
    const blob = await orNotFound('Blob', readHeldBlob(repo, params.sha, request.signal))
    countLargeBlob(ctx, project, blob.size, request)
    if ('content' in blob) return presentBlob(blob)
    const fields = { size: blob.size, encoding: 'base64', sha: blob.id }
    return await streamBlobJson(repo, blob.id, fields, request.signal)
  },
})

export const getRawBlob = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha/raw',
  summary: 'Download a blob by its id',
  ...codeRead(),
  params: { sha: text() },
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, repo, params, request }) {
    const headers = { 'Content-Disposition': 'inline' }
    const admit = (size: number) => countLargeBlob(ctx, project, size, request)
    return await orNotFound('Blob', answerBlob(repo, params.sha, request, headers, admit))
  },
})

const common = {
  ...codeRead(),
  query: { sha: text().optional(), ...archiveQuery },
  response: bytes('application/octet-stream'),
} as const

export const getArchive = endpoint({
  ...common,
  method: 'GET',
  path: '/projects/:id/repository/archive',
  summary: 'Download a repository as tar.gz',
  handler: ({ ctx, project, repo, query, request }) =>
    answerArchive({ ctx, project, repo, query, request, suffix: undefined }),
})

export const getArchiveOf = endpoint({
  ...common,
  method: 'GET',
  path: '/projects/:id/repository/archive.:format',
  summary: 'Download a repository as tar, tar.gz, tar.bz2 or zip',
  params: { format: text() },
  handler: ({ ctx, project, repo, params, query, request }) =>
    answerArchive({ ctx, project, repo, query, request, suffix: params.format }),
})
