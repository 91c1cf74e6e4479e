import { z } from 'zod'
import type { Group } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { openArchive } from '../../git/archive/archive.ts'
import { bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { clientRead, clientWrite, onGroupPackages, onProjectPackages } from '../registry/access.ts'
import { answerDocument, type ReadyDocument } from '../registry/documents.ts'
import { noteDownload } from '../registry/download.ts'
import { readHashedName, readName, readProviders, readRoot } from './documents.ts'
import { publishRef } from './publish-ref.ts'
import { findVersionAt } from './queries.ts'

const json = bytes('application/json')
const word = text({ max: 400 })
const access = onGroupPackages()

function answer(request: RequestFacts, document: ReadyDocument | undefined) {
  if (!document) throw notFound('Package')
  return answerDocument(request, document, 'application/json', {
    Vary: 'Origin, Accept-Encoding, User-Agent',
  })
}

export const publishComposerPackage = endpoint({
  ...clientWrite,
  method: 'POST',
  path: '/projects/:id/packages/composer',
  summary: 'Publish the commit of a tag or branch as a Composer package',
  access: onProjectPackages('write_package'),
  body: { tag: word.optional(), branch: word.optional() },
  response: z.strictObject({ message: z.string() }),
  status: 201,
  async handler({ ctx, project, body }) {
    await publishRef(ctx, project, body)
    return { message: '201 Created' }
  },
})

export const getComposerRoot = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/group/:id/-/packages/composer/packages.json',
  summary: 'Get where the metadata of the Composer packages of a group is',
  access,
  response: json,
  async handler({ ctx, group, request }) {
    const agent = String(request.headers['user-agent'] ?? '')
    return answer(request, await readRoot(ctx, group.id, agent))
  },
})

export const getComposerPackage = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/group/:id/-/packages/composer/p2/:vendor/:package_name',
  summary: 'Get the metadata of a Composer package of a group',
  access,
  params: { vendor: word, package_name: word },
  response: json,
  async handler({ ctx, group, params, request }) {
    const name = `${params.vendor}/${params.package_name.replace(/\.json$/, '')}`.toLowerCase()
    return answer(request, await readName(ctx, group.id, name))
  },
})

export const getComposerProviders = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/group/:id/-/packages/composer/p/:sha',
  summary: 'List the Composer packages of a group with the hash of their metadata, for Composer 1',
  access,
  params: { sha: word },
  response: json,
  async handler({ ctx, group, params, request }) {
    const hash = params.sha.replace(/\.json$/, '')
    return answer(request, await readProviders(ctx, group.id, hash))
  },
})

export const getHashedComposerPackage = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/group/:id/-/packages/composer/:vendor/:package_name',
  summary: 'Get the metadata of a Composer package by its hash, for Composer 1',
  access,
  params: { vendor: word, package_name: word },
  response: json,
  handler: ({ ctx, group, params, request }) => hashed(ctx, group, params, request),
})

async function hashed(
  ctx: Ctx,
  group: Group,
  params: { readonly vendor: string; readonly package_name: string },
  request: RequestFacts,
) {
  const [name = '', hash] = params.package_name.replace(/\.json$/, '').split('$')
  if (hash === undefined) throw notFound('Package')
  const full = `${params.vendor}/${name}`.toLowerCase()
  return answer(request, await readHashedName(ctx, group.id, full, hash))
}

export const downloadComposerArchive = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/composer/archives/:vendor/:file_name',
  summary: 'Download the commit of a Composer package as a zip file',
  access: onProjectPackages('read_packages'),
  params: { vendor: word, file_name: word },
  query: { sha: text({ max: 64 }) },
  response: bytes('application/zip'),
  async handler({ ctx, project, params, query, request }) {
    const name = `${params.vendor}/${params.file_name.replace(/\.zip$/, '')}`.toLowerCase()
    const row = await findVersionAt(ctx.db, project.id, name, query.sha)
    if (!row) throw notFound('Package')
    if (request.method === 'GET') await noteDownload(ctx, row.id)
    const input = { commitId: query.sha, format: 'zip', name: name.replace('/', '-') } as const
    const body = await openArchive(ctx.git.open(project.id), input, request.signal)
    return { body, type: 'application/zip' }
  },
})
