import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { type ImageName, imageWrite, onImage } from './access.ts'
import { digestOf, readDigest } from './names.ts'
import {
  addChunk,
  finishUpload,
  getUpload,
  mountBlob,
  rangeOf,
  startUpload,
  type Upload,
} from './upload.ts'
import { deleteUpload } from './upload-queries.ts'

const word = text({ max: 400 })
const access = onImage('write_container_image')
const params = { name: word, upload_id: text({ max: 64 }) }

function going(ctx: Ctx, image: ImageName, upload: Upload, status: number) {
  const headers = {
    Location: `${ctx.config.externalUrl}/v2/${image.full}/blobs/uploads/${upload.id}`,
    Range: rangeOf(upload),
    'Docker-Upload-UUID': upload.id,
  }
  return new Answer(undefined, { status, headers })
}

function done(ctx: Ctx, image: ImageName, sha256: string) {
  const digest = digestOf(sha256)
  const headers = {
    Location: `${ctx.config.externalUrl}/v2/${image.full}/blobs/${digest}`,
    'Docker-Content-Digest': digest,
  }
  return new Answer(undefined, { status: 201, headers })
}

export const startBlobUpload = endpoint({
  ...imageWrite,
  method: 'POST',
  path: '/v2/*name/blobs/uploads',
  summary: 'Begin to upload a blob, take one from another repository, or upload it at once',
  access,
  params: { name: word },
  query: { digest: word.optional(), mount: word.optional(), from: word.optional() },
  raw: true,
  status: 202,
  async handler({ ctx, image, query, request }) {
    if (query.mount !== undefined) {
      const sha256 = readDigest(query.mount)
      if (await mountBlob(ctx, image, sha256, query.from)) return done(ctx, image, sha256)
    }
    const wanted = query.digest === undefined ? undefined : readDigest(query.digest)
    const upload = await startUpload(ctx, image)
    if (wanted === undefined) return going(ctx, image, upload, 202)
    try {
      await finishUpload(ctx, await addChunk(ctx, upload, request), wanted)
    } catch (error) {
      // The client knows no address of it, and what came would count until the next day.
      await deleteUpload(ctx.db, upload.id)
      throw error
    }
    return done(ctx, image, wanted)
  },
})

export const getBlobUpload = endpoint({
  ...imageWrite,
  method: 'GET',
  path: '/v2/*name/blobs/uploads/:upload_id',
  summary: 'Get how much of a blob has been uploaded',
  access,
  params,
  handler: async ({ ctx, image, params }) =>
    going(ctx, image, await getUpload(ctx, image, params.upload_id), 204),
})

export const patchBlobUpload = endpoint({
  ...imageWrite,
  method: 'PATCH',
  path: '/v2/*name/blobs/uploads/:upload_id',
  summary: 'Upload a piece of a blob',
  access,
  params,
  raw: true,
  status: 202,
  async handler({ ctx, image, params, request }) {
    const upload = await getUpload(ctx, image, params.upload_id)
    return going(ctx, image, await addChunk(ctx, upload, request), 202)
  },
})

export const putBlobUpload = endpoint({
  ...imageWrite,
  method: 'PUT',
  path: '/v2/*name/blobs/uploads/:upload_id',
  summary: 'Upload the last piece of a blob, and say what its digest is',
  access,
  params,
  query: { digest: word },
  raw: true,
  status: 201,
  async handler({ ctx, image, params, query, request }) {
    const sha256 = readDigest(query.digest)
    const upload = await getUpload(ctx, image, params.upload_id)
    await finishUpload(ctx, await addChunk(ctx, upload, request), sha256)
    return done(ctx, image, sha256)
  },
})

export const deleteBlobUpload = endpoint({
  ...imageWrite,
  method: 'DELETE',
  path: '/v2/*name/blobs/uploads/:upload_id',
  summary: 'Give up the upload of a blob',
  access,
  params,
  async handler({ ctx, image, params }) {
    const upload = await getUpload(ctx, image, params.upload_id)
    await deleteUpload(ctx.db, upload.id)
  },
})
