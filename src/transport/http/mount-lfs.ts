import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response } from 'express'
import { ANONYMOUS } from '../../access/actor.ts'
import { Problem } from '../../base/problem.ts'
import { LostFile, lostFileText } from '../../base/streams/lost-file.ts'
import { SendableBody } from '../../base/streams/sendable.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { IncomingBody } from '../../http/body/incoming.ts'
import { endAnswer } from '../../http/end-answer.ts'
import { lfsChallenge } from '../lfs/access.ts'
import { readLfsRoute } from '../lfs/route.ts'
import { answerLfs, type LfsAnswer } from '../lfs/serve.ts'
import { asBodyError } from './body.ts'
import { asFullDisk, statusOf } from './refusal.ts'
import { splitUrl } from './route.ts'
import type { GitOverHttp } from './serve.ts'

const jsonType = 'application/vnd.git-lfs+json'

/** Git LFS as an Express handler; passes on what is not for it. */
export function mountLfs(parts: Pick<GitOverHttp, 'makeCtx' | 'budgets'>): RequestHandler {
  return (request, response, next) => {
    const { rawPath, rawQuery } = splitUrl(request.url)
    const ctx = parts.makeCtx(ANONYMOUS, request.ip ?? '')
    const route = readLfsRoute(rawPath, ctx.config.vendor.lfsFolders)
    if (!route) return next()
    const query = new URLSearchParams(rawQuery)
    const body = new IncomingBody(request, response)
    answerLfs({ ...parts, ctx, route, request, body, query })
      .then((answer) => send(request, response, answer))
      .catch((error: unknown) => refuse(ctx, request, response, asBodyError(error)))
  }
}

async function send(request: Request, response: Response, answer: LfsAnswer): Promise<void> {
  if (answer.kind === 'json') {
    response.status(answer.status)
    response.set({ 'Content-Type': jsonType, 'Cache-Control': 'no-store' })
    endAnswer(request, response, JSON.stringify(answer.body))
    return
  }
  const { body, type, headers, status = 200 } = answer.bytes
  response.writeHead(status, { 'Content-Type': type, ...headers })
  if (!(body instanceof Readable)) {
    response.end(body)
    return
  }
  if (body instanceof SendableBody) await body.sendTo(response)
  else await pipeline(body, response)
}

function refuse(ctx: Ctx, request: Request, response: Response, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    // A broken answer must not look like a whole one.
    response.destroy()
    return
  }
  const problem = inLfsWords(ctx, error)
  if (problem.status === 500 || problem.status === 507)
    ctx.log.error('LFS request failed', { error, path: request.path })
  response.status(problem.status)
  response.set({ 'Content-Type': jsonType, 'Cache-Control': 'no-store' })
  for (const [name, value] of Object.entries(problem.headers)) response.set(name, value)
  const text = JSON.stringify(problem.body)
  endAnswer(request, response, request.method === 'HEAD' ? undefined : text)
}

function inLfsWords(ctx: Ctx, error: unknown): Problem {
  if (error instanceof Problem) {
    if (error.status === 401) return lfsChallenge(ctx.config.vendor.prefix)
    if (typeof error.body !== 'string') return error
    const body = { message: error.body.trim() }
    return new Problem(error.code, error.status, body, { headers: error.headers })
  }
  const full = asFullDisk(error)
  if (full) return full
  if (error instanceof LostFile) {
    return new Problem('unavailable', 500, { message: lostFileText })
  }
  const status = error instanceof GitError ? statusOf(error) : 500
  if (status === 500) return new Problem('unavailable', 500, { message: 'The server failed.' })
  const message = error instanceof Error ? error.message : ''
  return new Problem('bad_request', status, { message })
}
