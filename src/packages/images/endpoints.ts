import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import { Answer, type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { integer, text } from '../../http/params.ts'
import { type ImageName, imageRead, imageWrite, onImage } from './access.ts'
import { digestOf, readDigest, readReference } from './names.ts'
import { imageProblem } from './problem.ts'
import { putManifest } from './put-manifest.ts'
import {
  findBlob,
  findManifest,
  findRepositoryId,
  findTag,
  listReferrers,
  listTagNames,
} from './queries.ts'
import { removeBlob, removeReference, unknownManifest } from './remove.ts'

const word = text({ max: 400 })
const onRead = onImage('read_container_images')
const onWrite = onImage('write_container_image')
const onDelete = onImage('delete_container_image')
const MOST_TAGS = 1000
const MOST_REFERRERS = { most: 500, bytes: 4 * 1024 * 1024 }
const INDEX = 'application/vnd.oci.image.index.v1+json'

async function repositoryOf(ctx: Ctx, image: ImageName): Promise<number> {
  const id = await findRepositoryId(ctx.db, image.project.id, image.below)
  if (id === undefined) throw imageProblem('NAME_UNKNOWN', 404, 'repository name not known')
  return id
}

export const checkImageRegistry = endpoint({
  ...imageRead,
  method: 'GET',
  path: '/v2',
  summary: 'Get whether the caller has signed in to the registry of images',
  access: anyone(),
  response: z.strictObject({}),
  handler({ request }) {
    // Clients learn from the refusal where they get a token; those without an account get one, too.
    if (request.headers.authorization === undefined) throw unauthorized()
    const headers = { 'Docker-Distribution-Api-Version': 'registry/2.0' }
    return new Answer({}, { headers })
  },
})

export const getImageBlob = endpoint({
  ...imageRead,
  method: 'GET',
  path: '/v2/*name/blobs/:digest',
  summary: 'Download a blob of an image',
  access: onRead,
  params: { name: word, digest: word },
  response: bytes('application/octet-stream'),
  handler: ({ ctx, image, params, request }) => answerBlob(ctx, image, params.digest, request),
})

async function answerBlob(ctx: Ctx, image: ImageName, digest: string, request: RequestFacts) {
  const sha256 = readDigest(digest)
  const blob = await findBlob(ctx.db, await repositoryOf(ctx, image), sha256)
  // Clients ask before they upload: to one that is lost they bring it again.
  const isLost = request.method === 'HEAD' && (await ctx.files.sizeOf(sha256)) !== blob?.size
  if (!blob || isLost) {
    throw imageProblem('BLOB_UNKNOWN', 404, 'blob unknown to registry')
  }
  return await answerDownload(request, {
    size: blob.size,
    etag: `"${digest}"`,
    type: 'application/octet-stream',
    headers: { 'Docker-Content-Digest': digest },
    open: async (range) => (await ctx.files.open(sha256, range, blob.size)).body,
  })
}

export const deleteImageBlob = endpoint({
  ...imageWrite,
  method: 'DELETE',
  path: '/v2/*name/blobs/:digest',
  summary: 'Delete a blob from a repository of images',
  access: onDelete,
  params: { name: word, digest: word },
  status: 202,
  async handler({ ctx, image, params }) {
    const repositoryId = await repositoryOf(ctx, image)
    await removeBlob(ctx, { project: image.project, repositoryId }, readDigest(params.digest))
  },
})

export const getImageManifest = endpoint({
  ...imageRead,
  method: 'GET',
  path: '/v2/*name/manifests/:reference',
  summary: 'Get a manifest by its tag or digest',
  access: onRead,
  params: { name: word, reference: word },
  response: bytes('application/vnd.oci.image.manifest.v1+json'),
  handler: ({ ctx, image, params, request }) =>
    answerManifest(ctx, image, params.reference, request),
})

async function answerManifest(
  ctx: Ctx,
  image: ImageName,
  text: string,
  request: RequestFacts,
): Promise<Bytes> {
  const repositoryId = await repositoryOf(ctx, image)
  const reference = readReference(text)
  const tag = 'tag' in reference ? await findTag(ctx.db, repositoryId, reference.tag) : undefined
  const digest = 'tag' in reference ? tag?.digest : digestOf(reference.sha256)
  const sha256 = digest === undefined ? undefined : readDigest(digest)
  const row = sha256 && (await findManifest(ctx.db, repositoryId, sha256))
  if (!row || !digest) throw unknownManifest()
  return await answerDownload(request, {
    size: row.size,
    etag: `"${digest}"`,
    type: row.media_type,
    headers: { 'Docker-Content-Digest': digest },
    open: async (range) => (await ctx.files.open(row.file_sha256, range, row.size)).body,
  })
}

export const putImageManifest = endpoint({
  ...imageWrite,
  method: 'PUT',
  path: '/v2/*name/manifests/:reference',
  summary: 'Publish a manifest under a tag or its digest',
  access: onWrite,
  params: { name: word, reference: word },
  raw: true,
  status: 201,
  async handler({ ctx, image, params, request }) {
    const reference = readReference(params.reference)
    const { sha256, subject } = await putManifest(ctx, image, reference, request)
    const digest = digestOf(sha256)
    const headers = {
      Location: `${ctx.config.externalUrl}/v2/${image.full}/manifests/${digest}`,
      'Docker-Content-Digest': digest,
      ...(subject === null ? {} : { 'OCI-Subject': digestOf(subject) }),
    }
    return new Answer(undefined, { status: 201, headers })
  },
})

export const deleteImageManifest = endpoint({
  ...imageWrite,
  method: 'DELETE',
  path: '/v2/*name/manifests/:reference',
  summary: 'Delete a manifest with its tags, or a tag',
  access: onDelete,
  params: { name: word, reference: word },
  status: 202,
  async handler({ ctx, image, params }) {
    const repositoryId = await repositoryOf(ctx, image)
    await removeReference(
      ctx,
      { project: image.project, repositoryId },
      readReference(params.reference),
    )
  },
})

export const listImageTags = endpoint({
  ...imageRead,
  method: 'GET',
  path: '/v2/*name/tags/list',
  summary: 'List the tags of a repository of images',
  access: onRead,
  params: { name: word },
  query: { n: integer({ min: 0 }).optional(), last: word.optional() },
  response: z.strictObject({ name: z.string(), tags: z.array(z.string()) }),
  async handler({ ctx, image, query }) {
    const most = Math.min(query.n ?? MOST_TAGS, MOST_TAGS)
    const repositoryId = await repositoryOf(ctx, image)
    const last = query.last ?? ''
    const found = await listTagNames(ctx.db, repositoryId, { last, most: most + 1 })
    const names = found.slice(0, most)
    const next = `/v2/${image.full}/tags/list?last=${names.at(-1) ?? ''}&n=${most}`
    const more = found.length > most && most > 0
    const headers: Record<string, string> = more ? { Link: `<${next}>; rel="next"` } : {}
    return new Answer({ name: image.full, tags: names }, { headers })
  },
})

export const listImageReferrers = endpoint({
  ...imageRead,
  method: 'GET',
  path: '/v2/*name/referrers/:digest',
  summary: 'List the manifests that belong to another one, such as its signatures',
  access: onRead,
  params: { name: word, digest: word },
  query: { artifactType: word.optional(), last: integer({ min: 0 }).optional() },
  response: bytes(INDEX),
  async handler({ ctx, image, params, query }) {
    const sha256 = readDigest(params.digest)
    const repositoryId = await findRepositoryId(ctx.db, image.project.id, image.below)
    const { artifactType, last = 0 } = query
    const page = { artifactType, after: last, ...MOST_REFERRERS }
    const { rows, hasMore } =
      repositoryId === undefined
        ? { rows: [], hasMore: false }
        : await listReferrers(ctx.db, repositoryId, sha256, page)
    const manifests = rows.map((row) => ({
      mediaType: row.media_type,
      digest: digestOf(row.file_sha256),
      size: row.size,
      ...(row.artifact_type === null ? {} : { artifactType: row.artifact_type }),
      ...(row.annotations === null ? {} : { annotations: JSON.parse(row.annotations) }),
    }))
    const filter = artifactType === undefined ? {} : { artifactType }
    const next = new URLSearchParams({ ...filter, last: String(rows.at(-1)?.id ?? 0) })
    const at = `/v2/${image.full}/referrers/${params.digest}`
    const headers: Record<string, string> = {
      ...(artifactType === undefined ? {} : { 'OCI-Filters-Applied': 'artifactType' }),
      ...(hasMore ? { Link: `<${at}?${next}>; rel="next"` } : {}),
    }
    const body = JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests })
    return { body, type: INDEX, headers }
  },
})
