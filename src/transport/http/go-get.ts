import type { Request, RequestHandler } from 'express'
import { type Actor, ANONYMOUS } from '../../access/actor.ts'
import { findVisibleProject } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { signIn } from './sign-in.ts'

/** Deeper than groups can be nested, and than anybody's packages are. */
const mostSegments = 40
/** Paths of ours below the server itself. */
const ours = new Set(['-', 'api', 'oauth'])

/**
 * Answers `go get` where the repository of a module is (docs/contract/D §3): the project that the path, or a part of it, names. To
 * callers who may not see it the first two segments pass for it, whether it is there or not.
 */
export function mountGoGet(parts: {
  readonly makeCtx: (actor: Actor, ip: string) => Ctx
}): RequestHandler {
  return (request, response, next) => {
    const segments = askedModule(request)
    if (!segments) return next()
    answer(parts.makeCtx, request, segments)
      .then((html) => {
        response.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
        response.type('text/html; charset=utf-8').send(html)
      })
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) return next(error)
        response.set({ ...error.headers })
        response.status(error.status).type('text/plain').send(`${error.message}\n`)
      })
  }
}

function askedModule(request: Request): string[] | undefined {
  if (request.method !== 'GET') return undefined
  const [path = '', query = ''] = request.url.split('?', 2)
  if (new URLSearchParams(query).get('go-get') !== '1') return undefined
  const segments = path.split('/').filter((segment) => segment !== '')
  if (segments.length < 2 || segments.length > mostSegments || ours.has(segments[0] ?? '')) {
    return undefined
  }
  // Module paths are letters, digits and a few signs: what must be encoded is none.
  return segments.every((segment) => /^[\w.~-]+$/.test(segment)) ? segments : undefined
}

async function answer(
  makeCtx: (actor: Actor, ip: string) => Ctx,
  request: Request,
  segments: readonly string[],
): Promise<string> {
  const ip = request.ip ?? ''
  const actor = await whoAsks(makeCtx(ANONYMOUS, ip), request.headers.authorization)
  const ctx = makeCtx(actor, ip)
  const path = (await findProjectPath(ctx, segments)) ?? withoutSuffix(segments.slice(0, 2))
  const url = `${ctx.config.externalUrl}/${path}`
  const prefix = url.replace(/^https?:\/\//, '')
  return `<!doctype html><html><head><meta name="go-import" content="${prefix} git ${url}.git"></head><body>go get ${prefix}</body></html>\n`
}

async function whoAsks(ctx: Ctx, authorization: string | undefined): Promise<Actor> {
  try {
    return await signIn(ctx, authorization, 'upload-pack')
  } catch (error) {
    // go asks without, and again with, what it has for the host: wrong credentials are none.
    if (error instanceof Problem && error.status === 401) return ANONYMOUS
    throw error
  }
}

async function findProjectPath(ctx: Ctx, segments: readonly string[]): Promise<string | undefined> {
  for (let length = segments.length; length >= 2; length -= 1) {
    const project = await findVisibleProject(ctx, withoutSuffix(segments.slice(0, length)))
    if (project) return project.full_path
  }
  return undefined
}

function withoutSuffix(segments: readonly string[]): string {
  return segments.join('/').replace(/\.git$/, '')
}
