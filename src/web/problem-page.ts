import { h } from 'preact'
import { Problem } from '../base/problem.ts'
import type { Bytes } from '../http/endpoint.ts'
import { answerFor } from '../http/errors.ts'
import { answerPage } from './answer.ts'
import { basePathOf, type PageCtx } from './page-ctx.ts'
import { sentenceOf } from './sentence.ts'
import { ProblemView } from './shell/problem.tsx'

/** What a refusal looks like in a browser. Strangers are asked to sign in wherever that could help; programs get JSON. */
export async function problemPage(ctx: PageCtx, error: unknown): Promise<Bytes> {
  const { status, headers, body } = answerFor(error)
  if (error instanceof Problem && error.code === 'moved') return await moved(ctx, error)
  if (!wantsPage(ctx)) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return { type: 'application/json', status, headers: { ...headers }, body: text }
  }
  const mayHelp = status === 401 || status === 404
  if (mayHelp && ctx.actor.kind === 'anonymous') {
    const isRead = ctx.request.method === 'GET'
    const query = isRead ? `?${new URLSearchParams({ return_to: ctx.address })}` : ''
    const Location = `${basePathOf(ctx)}/users/sign_in${query}`
    return { type: 'text/plain', status: 302, headers: { Location }, body: '' }
  }
  const view = h(ProblemView, {
    status,
    requestId: ctx.request.id,
    reason: reasonOf(error, status),
  })
  const drawn = await answerPage(ctx, { title: String(status), body: view, refused: null, status })
  return { ...drawn, headers: { ...headers, ...drawn.headers } }
}

/** What the refusal itself says, where that is more than that there is nothing. */
function reasonOf(error: unknown, status: number): string | undefined {
  return error instanceof Problem && status < 500 && status !== 404 ? sentenceOf(error) : undefined
}

function wantsPage({ request }: PageCtx): boolean {
  return String(request.headers.accept ?? '').includes('text/html')
}

/** Where an endpoint sends its caller: to the address of ours that it names. */
async function moved(ctx: PageCtx, { status, headers }: Problem): Promise<Bytes> {
  const { Location = '/' } = headers
  const path = Location.startsWith('/') ? basePathOf(ctx) + Location : Location
  return { type: 'text/plain', status, headers: { ...headers, Location: path }, body: '' }
}
