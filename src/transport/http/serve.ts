import type { IncomingMessage } from 'node:http'
import type { Actor } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { IncomingBody } from '../../http/body/incoming.ts'
import type { BodyBudgets } from '../../http/body/limits.ts'
import { countFetch } from '../../projects/projects/facts/count-fetch.ts'
import { protocolVersion } from '../fetch-request.ts'
import { type Pushed, pushMessages } from '../push-messages.ts'
import { takePush } from '../take-push.ts'
import type { Transport } from '../transport.ts'
import { uploadPack } from '../upload-pack.ts'
import { admit } from './access.ts'
import type { Admission } from './admission.ts'
import { bodyLimits, decodedBody, withWholeBody } from './body.ts'
import type { ProjectsByPush } from './create-by-push.ts'
import { wrongMethod, wrongType } from './refusal.ts'
import type { GitRoute } from './route.ts'
import { signIn } from './sign-in.ts'

/** What git over HTTP is given by the app. */
export interface GitOverHttp {
  readonly transport: Transport
  readonly makeCtx: (actor: Actor, ip: string) => Ctx
  readonly budgets: BodyBudgets
}

export interface GitRequest {
  readonly byPush: ProjectsByPush
  readonly parts: GitOverHttp
  /** Of nobody yet. */
  readonly ctx: Ctx
  readonly route: Extract<GitRoute, { readonly service: unknown }>
  readonly request: IncomingMessage
  readonly body: IncomingBody
  readonly signal: AbortSignal
}

export interface Answer {
  readonly type: string
  readonly body: AsyncIterable<Buffer>
  /** What to do once the answer is on its way. */
  readonly after?: (() => void) | undefined
}

const mebibyte = 1024 * 1024
// What a client wants and has, line by line: enough for 200,000 refs.
const maxFetchBody = 10 * mebibyte

/** `GET …/info/refs?service=…`: which refs there are. */
export async function answerInfo(asked: GitRequest): Promise<Answer> {
  const { route, request, parts } = asked
  if (request.method !== 'GET') throw wrongMethod('GET')
  const { updater } = await letIn(asked)
  const version = protocolVersion(protocolOf(request))
  const { repo } = updater
  const list = await parts.transport.advertisements.infoRefs(repo, route.service, version)
  return { type: `application/x-git-${route.service}-advertisement`, body: one(list) }
}

/** `POST …/git-upload-pack` and `…/git-receive-pack`: the transfer itself. */
export async function answerRpc(asked: GitRequest): Promise<Answer> {
  const { route, request, parts, signal, byPush } = asked
  if (request.method !== 'POST') throw wrongMethod('POST')
  const expected = `application/x-git-${route.service}-request`
  if (request.headers['content-type'] !== expected) throw wrongType(expected)
  const { ctx, updater, project, notices: known } = await letIn(asked)
  const type = `application/x-git-${route.service}-result`
  if (route.service === 'upload-pack') {
    const body = await withWholeBody(ctx, parts.budgets, asked.body, maxFetchBody, (bytes) => bytes)
    const after = () => {
      if (project && endsFetch(body)) countFetch(ctx, project.id)
    }
    return {
      type,
      body: uploadPack(parts.transport, updater.repo, body, protocolOf(request), {
        log: ctx.log,
        signal,
      }),
      after,
    }
  }
  const { maxPush } = ctx.config
  // git itself says it best when a pack is too large; this is for what is no pack at all.
  const maxBytes = maxPush === 0 ? 0 : maxPush + 64 * mebibyte
  const input = decodedBody(asked.body, bodyLimits(ctx, maxBytes))
  const created = project && byPush.takeNotice(ctx, project, httpUrl(ctx))
  const notices = created === undefined ? known : [created, ...known]
  const messages = (pushed: Pushed) => pushMessages(ctx, project, pushed, notices)
  return { type, body: takePush(parts.transport, { ctx, updater, input, signal, messages }) }
}

/** A fetch may take several rounds; the client says `done` in its last one. */
function endsFetch(body: Buffer): boolean {
  return body.includes('0009done')
}

async function letIn(asked: GitRequest): Promise<Admission & { readonly ctx: Ctx }> {
  const { route, request, parts } = asked
  const { authorization } = request.headers
  const actor = await signIn(asked.ctx, authorization, route.service)
  const ctx = parts.makeCtx(actor, asked.ctx.ip)
  // git follows a redirect of its first request alone: a clone goes on while its project is renamed.
  const rest = route.kind === 'info' ? `info/refs?service=git-${route.service}` : undefined
  const where = { path: route.path, service: route.service, rest, urlOf: httpUrl(ctx) }
  return { ...(await admit(ctx, where, asked.byPush)), ctx }
}

function httpUrl({ config }: Ctx): (path: string) => string {
  return (path) => `${config.externalUrl}/${path}`
}

function protocolOf(request: IncomingMessage): string | undefined {
  const header = request.headers['git-protocol']
  return typeof header === 'string' && header.length <= 1000 ? header : undefined
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
