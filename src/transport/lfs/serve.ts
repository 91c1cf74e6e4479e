import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { type Actor, userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import type { IncomingBody } from '../../http/body/incoming.ts'
import type { BodyBudgets } from '../../http/body/limits.ts'
import type { Bytes } from '../../http/endpoint.ts'
import { createLock, listLocks, presentLock, removeLock } from '../../repositories/lfs/locks.ts'
import { findLfsObjects, storeLfsObject } from '../../repositories/lfs/objects.ts'
import { answerLargeFile } from '../../repositories/lfs/serve-object.ts'
import { leaveBytes } from '../../repositories/size-limit/claims.ts'
import { bodyLimits, decodedBody, withWholeBody } from '../http/body.ts'
import { signIn } from '../http/sign-in.ts'
import { assertMayWrite, assertRoom, getLfsProject, refusal, takeRoom } from './access.ts'
import { answerBatch, batchRequest } from './batch.ts'
import { findLfsGrant } from './grant.ts'
import type { LfsRoute } from './route.ts'

export interface LfsRequest {
  /** Of nobody yet. */
  readonly ctx: Ctx
  readonly makeCtx: (actor: Actor, ip: string) => Ctx
  readonly route: LfsRoute
  readonly request: IncomingMessage
  readonly body: IncomingBody
  readonly budgets: BodyBudgets
  readonly query: URLSearchParams
}

export type LfsAnswer =
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Bytes }

interface Admitted {
  readonly ctx: Ctx
  readonly project: Project
  /** False for who was let in to download alone. */
  readonly mayWrite: boolean
}

const mostJson = 1024 * 1024

const methods: Readonly<Record<LfsRoute['kind'], readonly string[]>> = {
  batch: ['POST'],
  locks: ['GET', 'POST'],
  verify_locks: ['POST'],
  unlock: ['POST'],
  legacy: ['GET', 'POST'],
  object: ['GET', 'HEAD'],
  upload: ['PUT'],
}

/** Answers one request of Git LFS (docs/contract/D §3.8). */
export async function answerLfs(asked: LfsRequest): Promise<LfsAnswer> {
  const { route, request } = asked
  const allowed = methods[route.kind]
  if (!allowed.includes(request.method ?? '')) {
    throw refusal('method_not_allowed', 405, 'Method not allowed', { Allow: allowed.join(', ') })
  }
  const { authorization } = request.headers
  const granted = await findLfsGrant(asked.ctx, authorization)
  const actor = granted?.actor ?? (await signIn(asked.ctx, authorization, 'upload-pack'))
  const ctx = asked.makeCtx(actor, asked.ctx.ip)
  const project = await getLfsProject(ctx, route.path)
  if (granted && granted.grant.projectId !== project.id) {
    throw refusal('not_found', 404, 'Project not found')
  }
  const mayWrite = granted?.grant.operation !== 'download'
  const admitted = { ctx, project, mayWrite }
  switch (route.kind) {
    case 'legacy':
      throw refusal(
        'unavailable',
        501,
        'Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.',
      )
    case 'batch':
      return await batch(asked, admitted)
    case 'object':
      return await download(admitted, route.oid, request)
    case 'upload':
      return await upload(admitted, route, asked)
    default:
      return await locks(asked, admitted, route)
  }
}

async function assertWrites({ ctx, project, mayWrite }: Admitted): Promise<void> {
  if (!mayWrite) throw refusal('forbidden', 403, 'This token is for downloads alone.')
  await assertMayWrite(ctx, project)
}

function json(body: unknown, status = 200): LfsAnswer {
  return { kind: 'json', status, body }
}

async function batch(asked: LfsRequest, admitted: Admitted): Promise<LfsAnswer> {
  const { ctx, project } = admitted
  const { request } = asked
  const body = await readJson(asked, ctx, batchRequest)
  if (body.operation === 'upload') await assertWrites(admitted)
  const { authorization } = request.headers
  return json(await answerBatch({ ctx, project, authorization }, body))
}

async function locks(
  asked: LfsRequest,
  admitted: Admitted,
  route: Exclude<LfsRoute, { kind: 'batch' | 'legacy' | 'object' | 'upload' }>,
): Promise<LfsAnswer> {
  const { ctx, project } = admitted
  if (route.kind === 'locks' && asked.request.method === 'GET') {
    const query = valid(listQuery, Object.fromEntries(asked.query))
    const { locks, ...rest } = await listLocks(ctx, project, query)
    return json({ locks: locks.map(presentLock), ...rest })
  }
  await assertWrites(admitted)
  if (route.kind === 'locks') {
    const { path } = await readJson(asked, ctx, lockRequest)
    return json({ lock: await createLock(ctx, project, path) }, 201)
  }
  if (route.kind === 'verify_locks') {
    return json(await answerVerify(ctx, project, await readJson(asked, ctx, verifyRequest)))
  }
  const { force = false } = await readJson(asked, ctx, unlockRequest)
  return json({ lock: await removeLock(ctx, project, { id: route.id, force }) })
}

/** The object's bytes; 404 alike for what is not there and for what belongs to others (docs/faults 76). */
async function download(
  { ctx, project }: Admitted,
  oid: string,
  request: IncomingMessage,
): Promise<LfsAnswer> {
  if (!(await findLfsObjects(ctx, project, [oid])).has(oid)) {
    throw refusal('not_found', 404, 'Object not found')
  }
  const asked = { method: request.method ?? 'GET', headers: request.headers }
  const headers = { 'Content-Disposition': `attachment; filename="${oid}"` }
  return { kind: 'bytes', bytes: await answerLargeFile(ctx, oid, asked, headers) }
}

async function upload(
  admitted: Admitted,
  route: Extract<LfsRoute, { kind: 'upload' }>,
  { request, body }: LfsRequest,
): Promise<LfsAnswer> {
  const { ctx, project } = admitted
  await assertWrites(admitted)
  const { oid, size } = route
  const { maxLfsObject } = ctx.config
  if (maxLfsObject > 0 && size > maxLfsObject) {
    throw refusal('too_large', 413, `An object may have ${maxLfsObject} bytes at most.`)
  }
  if (route.onlyAsks) {
    await assertRoom(ctx, project, [{ size }])
    return json({ LfsOid: oid, LfsSize: size })
  }
  await takeRoom(ctx, project, { holder: route, bytes: size })
  try {
    const length = request.headers['content-length']
    if (length !== undefined && Number(length) !== size) {
      throw refusal('unprocessable', 422, `The size is ${length}, not ${size}.`)
    }
    await storeLfsObject(ctx, project, { oid, size }, decodedBody(body, bodyLimits(ctx, 0)))
  } finally {
    leaveBytes(ctx.git.open(project.id), route)
  }
  return json({})
}

async function readJson<T>(asked: LfsRequest, ctx: Ctx, schema: z.ZodType<T>): Promise<T> {
  const { type } = asked.body
  if (type !== 'application/vnd.git-lfs+json' && type !== 'application/json') {
    throw refusal('unsupported_type', 415, 'The body must be application/vnd.git-lfs+json.')
  }
  return await withWholeBody(ctx, asked.budgets, asked.body, mostJson, (bytes) =>
    valid(schema, parse(bytes)),
  )
}

function parse(body: Buffer): unknown {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString('utf8'))
  } catch {
    throw new GitError('invalid', 'the body is not valid JSON')
  }
}

function valid<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw refusal('unprocessable', 422, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
}

const cursor = z.string().max(30).optional()
const limit = z.coerce.number().int().optional()

const lockRequest = z.object({ path: z.string().max(8192) })
const verifyRequest = z.object({ cursor, limit })
const unlockRequest = z.object({ force: z.boolean().optional() })
const listQuery = z.object({
  path: z.string().max(8192).optional(),
  id: z.string().max(30).optional(),
  cursor,
  limit,
})

/** All locks before a push: the caller's own, and those that would stand in its way. */
async function answerVerify(ctx: Ctx, project: Project, body: z.output<typeof verifyRequest>) {
  const { locks, ...rest } = await listLocks(ctx, project, body)
  const userId = userOf(ctx.actor)?.id
  return {
    ours: locks.filter((lock) => lock.user_id === userId).map(presentLock),
    theirs: locks.filter((lock) => lock.user_id !== userId).map(presentLock),
    ...rest,
  }
}
