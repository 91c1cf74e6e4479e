import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { lostFileText } from '../../base/streams/lost-file.ts'
import type { Ctx } from '../../ctx.ts'
import type { LfsPointer } from '../../git/objects/lfs-pointer.ts'
import { adoptLfsObjects, findLfsObjects, findLost } from '../../repositories/lfs/objects.ts'
import { assertRoom, refusal } from './access.ts'

// git-lfs asks for a hundred at a time.
const MOST_OBJECTS = 1000

export const batchRequest = z.object({
  operation: z.enum(['upload', 'download']),
  transfers: z.array(z.string()).max(20).optional(),
  objects: z.array(z.object({ oid: z.unknown(), size: z.unknown() })).max(MOST_OBJECTS),
  hash_algo: z.string().optional(),
})

interface Action {
  readonly href: string
  readonly header: Readonly<Record<string, string>>
}

interface BatchObject {
  readonly oid: string
  readonly size: number
  readonly authenticated?: true
  readonly actions?: Readonly<Partial<Record<'upload' | 'download', Action>>>
  readonly error?: { readonly code: number; readonly message: string }
}

interface Asked {
  readonly ctx: Ctx
  readonly project: Project
  /** What the caller sent, which the transfers need as well. */
  readonly authorization: string | undefined
}

/** Where each object is to be fetched from or brought to (docs/contract/D §3.8). */
export async function answerBatch(asked: Asked, request: z.output<typeof batchRequest>) {
  if (request.transfers !== undefined && !request.transfers.includes('basic')) {
    throw refusal('unprocessable', 422, 'Only the transfer `basic` is offered.')
  }
  if (request.hash_algo !== undefined && request.hash_algo !== 'sha256') {
    throw refusal('conflict', 409, 'Only the hash `sha256` is supported.')
  }
  const oids = request.objects.map(({ oid }) => oid).filter(isOid)
  const find = request.operation === 'upload' ? adoptLfsObjects : findLfsObjects
  const known = await find(asked.ctx, asked.project, oids)
  const lost = await findLost(asked.ctx, known)
  const objects = request.objects.map(({ oid, size }): BatchObject => {
    if (!isOid(oid) || !isSize(size)) return misnamed(oid, size)
    return request.operation === 'download'
      ? forDownload(asked, { oid, size }, known.get(oid), lost.has(oid))
      : forUpload(asked, { oid, size }, known.get(oid), lost.has(oid))
  })
  const wanted = objects.filter(({ actions }) => actions?.upload)
  await assertRoom(asked.ctx, asked.project, wanted)
  return { transfer: 'basic', objects, hash_algo: 'sha256' }
}

function isOid(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function misnamed(oid: unknown, size: unknown): BatchObject {
  return {
    oid: typeof oid === 'string' ? oid.slice(0, 100) : '',
    size: isSize(size) ? size : 0,
    error: { code: 422, message: 'An object has a SHA-256 as its id and a size in bytes.' },
  }
}

function hrefOf({ ctx, project }: Asked, rest: string): string {
  const { externalUrl, vendor } = ctx.config
  return `${externalUrl}/${project.full_path}.git/${vendor.lfsFolders[0]}/${rest}`
}

function credentials({ authorization }: Asked): Record<string, string> {
  return authorization === undefined ? {} : { Authorization: authorization }
}

function forDownload(
  asked: Asked,
  { oid, size }: LfsPointer,
  known: number | undefined,
  isLost: boolean,
): BatchObject {
  if (known !== undefined && isLost) {
    return { oid, size: known, error: { code: 500, message: lostFileText } }
  }
  if (known === undefined) {
    const message = "Object does not exist on the server or you don't have permissions to access it"
    return { oid, size, error: { code: 404, message } }
  }
  const download = { href: hrefOf(asked, oid), header: credentials(asked) }
  return { oid, size: known, authenticated: true, actions: { download } }
}

function forUpload(
  asked: Asked,
  { oid, size }: LfsPointer,
  known: number | undefined,
  isLost: boolean,
): BatchObject {
  // One whose bytes are lost is brought again.
  if (known !== undefined && !(isLost && known === size)) {
    if (known === size) return { oid, size }
    return { oid, size, error: { code: 422, message: `The object has ${known} bytes.` } }
  }
  const { maxLfsObject } = asked.ctx.config
  if (maxLfsObject > 0 && size > maxLfsObject) {
    const message = `The object is larger than the ${maxLfsObject} bytes that are allowed.`
    return { oid, size, error: { code: 413, message } }
  }
  const header = {
    ...credentials(asked),
    'Content-Type': 'application/octet-stream',
    // git-lfs takes this as leave to send the body in chunks.
    'Transfer-Encoding': 'chunked',
  }
  const upload = { href: hrefOf(asked, `${oid}/${size}`), header }
  return { oid, size, authenticated: true, actions: { upload } }
}
