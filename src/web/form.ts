import express, { type Request, type RequestHandler, type Response } from 'express'
import { type Actor, ANONYMOUS } from '../access/actor.ts'
import { Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'

export type MakeCtx = (actor: Actor, ip: string) => Ctx

/** Reads small forms and JSON bodies. */
export function readForms(): RequestHandler[] {
  return [express.urlencoded({ extended: false, limit: '64kb' }), express.json({ limit: '64kb' })]
}

/** Texts of a form or JSON body; whatever is no text is not there. */
export function formOf(request: Request): Readonly<Record<string, string | undefined>> {
  return textsOf(request.body)
}

/** Texts of the query. */
export function queryOf(request: Request): Readonly<Record<string, string | undefined>> {
  const at = request.url.indexOf('?')
  return Object.fromEntries(new URLSearchParams(at < 0 ? '' : request.url.slice(at + 1)))
}

function textsOf(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null) return {}
  return Object.fromEntries(
    Object.entries(body).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

/** The ctx of a page: pages sign nobody in before their form is sent. */
export function pageCtx(makeCtx: MakeCtx, request: Request): Ctx {
  return makeCtx(ANONYMOUS, request.ip ?? '')
}

/** Answers what a caller caused as JSON; anything else goes on to be a fault. */
export function sendProblem(response: Response, error: unknown): void {
  if (!(error instanceof Problem)) throw error
  response.status(error.status).set(error.headers)
  if (typeof error.body === 'string') response.type('text/plain').send(error.body)
  else response.json(error.body)
}

/** What a caller reads of a problem on a page. */
export function problemText(error: unknown): string {
  if (!(error instanceof Problem)) throw error
  if (error.fields) {
    return Object.entries(error.fields)
      .map(([field, texts]) => `${field.replaceAll('_', ' ')} ${texts.join(', ')}`)
      .join('; ')
  }
  const { body } = error
  if (typeof body === 'object' && typeof body.error_description === 'string') {
    return body.error_description
  }
  return error.code === 'unauthorized' ? 'Wrong user name or password' : error.message
}
