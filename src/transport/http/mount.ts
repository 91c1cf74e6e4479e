import type { Request, RequestHandler, Response } from 'express'
import { ANONYMOUS } from '../../access/actor.ts'
import { Problem, unavailable } from '../../base/problem.ts'
import { drained } from '../../base/streams/drained.ts'
import type { Ctx } from '../../ctx.ts'
import { damageText, GitError, isDamage } from '../../git/error.ts'
import { IncomingBody } from '../../http/body/incoming.ts'
import { endAnswer } from '../../http/end-answer.ts'
import { isExhausted } from '../../http/listener/connection-limit.ts'
import { asBodyError } from './body.ts'
import { ProjectsByPush } from './create-by-push.ts'
import {
  asFullDisk,
  notAllowed,
  redirect,
  rootOf,
  smartOnly,
  statusOf,
  wrongMethod,
} from './refusal.ts'
import { readRoute, splitUrl } from './route.ts'
import { type Answer, answerInfo, answerRpc, type GitOverHttp, type GitRequest } from './serve.ts'

/** git's smart HTTP protocol as an Express handler; passes on what is not git's. */
export function mountGit(parts: GitOverHttp): RequestHandler {
  const byPush = new ProjectsByPush()
  return (request, response, next) => {
    const { rawPath, rawQuery } = splitUrl(request.url)
    const route = readRoute(rawPath, rawQuery)
    if (!route) return next()
    const ctx = parts.makeCtx(ANONYMOUS, request.ip ?? '')
    const gone = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    const answer = async (): Promise<Answer> => {
      if (route.kind === 'refused') throw smartOnly()
      assertHttpWanted(ctx)
      if (route.kind === 'bare' || route.kind === 'page') {
        if (request.method !== 'GET') throw wrongMethod('GET')
        throw redirect(rootOf(ctx.config) + route.location)
      }
      const body = new IncomingBody(request, response)
      const asked: GitRequest = { parts, byPush, ctx, route, request, body, signal: gone.signal }
      return await (route.kind === 'info' ? answerInfo(asked) : answerRpc(asked))
    }
    answer()
      .then((found) => send(response, found))
      .catch((error: unknown) => refuse(ctx, request, response, asBodyError(error)))
  }
}

async function send(response: Response, answer: Answer): Promise<void> {
  const pieces = answer.body[Symbol.asyncIterator]()
  // Errors up to the first bytes still get a status of their own.
  let piece = await pieces.next()
  response.writeHead(200, {
    'Content-Type': answer.type,
    'Cache-Control': 'no-cache, max-age=0, must-revalidate',
    Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
    Pragma: 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  })
  try {
    while (!piece.done && !response.destroyed) {
      if (!response.write(piece.value) && !response.destroyed) await drained(response)
      piece = await pieces.next()
    }
    response.end()
    if (answer.after) setImmediate(answer.after)
  } finally {
    await pieces.return?.(undefined)
  }
}

/** Administrators may want git over SSH alone. */
function assertHttpWanted(ctx: Ctx): void {
  if (ctx.settings.get('enabled_git_access_protocol') !== 'ssh') return
  throw notAllowed('Git access over HTTP is not allowed')
}

function refuse(ctx: Ctx, request: Request, response: Response, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    // A broken answer must not look like a whole one.
    if (!response.destroyed) ctx.log.warn('transfer failed', { error, path: request.path })
    response.destroy()
    return
  }
  const problem = error instanceof Problem ? error : (asFullDisk(error) ?? asProblem(error))
  if (problem.status === 500 || problem.status === 507)
    ctx.log.error('transfer failed', { error, path: request.path })
  response.status(problem.status)
  response.set({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' })
  response.set('X-Content-Type-Options', 'nosniff')
  for (const [name, value] of Object.entries(problem.headers)) response.set(name, value)
  const text = Buffer.from(bodyText(problem))
  response.set('Content-Length', String(text.length))
  endAnswer(request, response, request.method === 'HEAD' ? undefined : text)
}

function asProblem(error: unknown): Problem {
  const known = error instanceof GitError ? statusOf(error) : 500
  const status = isExhausted(error) ? 503 : known
  if (isDamage(error)) {
    return new Problem('unavailable', 500, `${damageText(error)}\n`)
  }
  if (status === 500) return new Problem('unavailable', 500, 'The server failed.\n')
  if (status === 503) return unavailable('The server is busy. Try again in a few seconds.\n', 5)
  return new Problem('bad_request', status, `${error instanceof Error ? error.message : ''}\n`)
}

function bodyText(problem: Problem): string {
  return typeof problem.body === 'string' ? problem.body : `${problem.message}\n`
}
