import { anyone } from '../access/subjects.ts'
import { Problem, unauthorized } from '../base/problem.ts'
import { call } from '../http/call/call.ts'
import {
  type Bytes,
  bytes,
  type DataOf,
  type Endpoint,
  endpoint,
  type InputOf,
  type Shape,
} from '../http/endpoint.ts'
import { answerFor } from '../http/errors.ts'
import { text } from '../http/params.ts'
import { validate } from '../http/validate.ts'
import { isOurForm } from '../identity/sign-in/form-token.ts'
import { safeReturn } from '../identity/sign-in/return-path.ts'
import { type NamesIn, namesIn } from './address.ts'
import { confirmOwner, withoutProofs } from './confirm-owner.tsx'
import type { RefusedForm } from './context.ts'
import type { Page } from './page.ts'
import { basePathOf, leaveFlash, openPageCtx, type PageCtx } from './page-ctx.ts'
import { problemPage } from './problem-page.ts'
import { sentenceOf } from './sentence.ts'
import { assertTermsSeen } from './terms.ts'

/** What a form was sent with: the values of its address and its fields, as they came. */
export interface Sent<P extends string> {
  readonly ctx: PageCtx
  readonly path: { readonly [K in NamesIn<P>]: string }
  readonly fields: Readonly<Record<string, unknown>>
}

interface Common<P extends string> {
  /** Where the form is sent, by POST. */
  readonly address: P
  readonly summary: string
  /** Shown again where the form is refused, with the texts beside their fields; it has the form's own address. */
  readonly page?: Page
  /** Fields that are files, by their schemas. */
  readonly files?: Shape
  /** Most bytes of the form, where it is not the common limit. */
  readonly maxBody?: number
  /** Who is not signed in may send it too. */
  readonly strangers?: true
  /** So may those who have not accepted the terms. */
  readonly beforeTerms?: true
  /** Dangerous if somebody else sits at the browser: asks who that is, unless it was shown a short while ago. */
  readonly fresh?: true
  /** Open even while the caller must do something before anything else: what does that. */
  readonly whileDue?: true
  /** The address holds a secret, which proves what a form token would: mail programs send it too (RFC 8058). */
  readonly bySecret?: true
}

export interface FormDeclaration<P extends string, E extends Endpoint> extends Common<P> {
  /** What the form does: the endpoint that it calls. */
  readonly endpoint: E
  input(sent: Sent<P>): InputOf<E>
  /** Where the browser goes then: a path of ours. By default back to where the form was. */
  goTo?(done: Sent<P> & { readonly data: DataOf<E> }): string | Promise<string>
  /** One sentence for the next page. */
  readonly flash?: string | ((data: DataOf<E>) => string)
}

export interface ActDeclaration<P extends string> extends Common<P> {
  /** For what is no single endpoint: does it, and gives where the browser goes; or a page, for what is shown once. */
  act(sent: Sent<P>): Promise<string | Bytes>
}

/** A form: checks that it is ours, calls an endpoint, and sends the browser on (303). */
export function form<const P extends string, E extends Endpoint>(
  declared: FormDeclaration<P, E>,
): Endpoint {
  return actForm<P>({
    ...declared,
    async act(sent) {
      const data = await call(declared.endpoint, sent.ctx, declared.input(sent))
      const { flash } = declared
      if (flash) {
        leaveFlash(sent.ctx, {
          kind: 'notice',
          text: typeof flash === 'string' ? flash : flash(data),
        })
      }
      return declared.goTo ? await declared.goTo({ ...sent, data }) : returnOf(sent)
    },
  })
}

/** A form that does more than one endpoint, or what no endpoint does: signing in. */
export function actForm<const P extends string>(declared: ActDeclaration<P>): Endpoint {
  return endpoint({
    method: 'POST',
    host: true,
    session: 'only',
    whileDue: declared.whileDue ?? false,
    path: declared.address as string,
    summary: declared.summary,
    access: anyone(),
    params: Object.fromEntries(namesIn(declared.address).map((name) => [name, text()])),
    body: declared.files ?? {},
    ...(declared.maxBody === undefined ? {} : { maxBody: declared.maxBody }),
    response: bytes('text/html'),
    async handler({ ctx: outer, params, body: files, request }) {
      const ctx = openPageCtx(outer, request, false)
      const received = Object.fromEntries(Object.entries(request.received).map(plainEntry))
      const { authenticity_token: token, ...fields } = { ...received, ...(files as object) }
      // The router has read what the address names.
      const path = params as Sent<P>['path']
      const sent = { ctx, path, fields: declared.fresh ? withoutProofs(fields) : fields }
      try {
        const isOurs =
          declared.bySecret ||
          isOurForm(ctx, request, typeof token === 'string' ? token : undefined)
        if (!isOurs) throw tooOld()
        const asked = declared.fresh && (await confirmOwner(ctx, addressOf(declared, path), fields))
        return asked || (await actOn(declared, sent))
      } catch (error) {
        if (!(error instanceof Problem) && answerFor(error).fault) throw error
        return await refuse(declared, sent, error)
      }
    },
  })
}

/** Forms send each end of a line in two signs; what people typed has one. */
function plainLines(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\r\n', '\n')
  if (Array.isArray(value)) return value.map(plainLines)
  // A file carries a mark that says that it is one.
  const isHash = typeof value === 'object' && value !== null
  if (!isHash || Object.getOwnPropertySymbols(value).length > 0) return value
  return Object.fromEntries(Object.entries(value).map(plainEntry))
}

function plainEntry([name, value]: readonly [string, unknown]): [string, unknown] {
  return [name, plainLines(value)]
}

/** The address of this form, with the values of its names. */
function addressOf({ address }: { readonly address: string }, path: object): string {
  const values = new Map(Object.entries(path).map(([name, value]) => [name, String(value)]))
  const segments = address.split('/').map((segment) => values.get(segment.slice(1)) ?? segment)
  return segments.map((segment) => segment.split('/').map(encodeURIComponent).join('/')).join('/')
}

async function actOn<P extends string>(declared: ActDeclaration<P>, sent: Sent<P>): Promise<Bytes> {
  if (!declared.strangers) {
    if (sent.ctx.actor.kind === 'anonymous') throw unauthorized()
    if (!declared.beforeTerms && !declared.whileDue) await assertTermsSeen(sent.ctx)
  }
  const done = await declared.act(sent)
  return typeof done === 'string' ? sendOn(sent.ctx, done) : done
}

function tooOld(): Problem {
  const text = 'This form was too old. Please send it again.'
  return new Problem('unprocessable', 422, { message: text })
}

/** The path that the form asks to return to, or the page that it stood on. */
export function returnOf({ fields }: Pick<Sent<string>, 'fields'>): string {
  const asked = typeof fields.return_to === 'string' ? safeReturn(fields.return_to) : undefined
  return asked ?? '/'
}

function sendOn(ctx: PageCtx, path: string): Bytes {
  const headers = { Location: basePathOf(ctx) + path, 'Cache-Control': 'no-store', ...ctx.headers }
  return { type: 'text/plain; charset=utf-8', body: '', status: 303, headers }
}

/** The page with the form as it was sent, or where it stood with a sentence. */
async function refuse<P extends string>(
  declared: ActDeclaration<P>,
  sent: Sent<P>,
  error: unknown,
): Promise<Bytes> {
  const { ctx, fields } = sent
  if (error instanceof Problem && error.code === 'moved') return await problemPage(ctx, error)
  const refused = refusedForm(error, fields)
  // Where a refusal is about who asks, the page with the form may not be theirs to see.
  const mayShow = declared.strangers || (refused.status !== 401 && refused.status !== 404)
  if (declared.page && mayShow) {
    return await showAgain(declared.page, sent, refused)
  }
  if (refused.status === 401 || fields.return_to === undefined) return await problemPage(ctx, error)
  leaveFlash(ctx, { kind: 'alert', text: refused.text })
  return sendOn(ctx, returnOf(sent))
}

/** The page, with what its query takes read from the fields of the form: hidden ones carry it through. */
async function showAgain(
  shown: Page,
  { ctx, path, fields }: Sent<string>,
  refused: RefusedForm,
): Promise<Bytes> {
  const reading = openPageCtx(ctx, ctx.request, true)
  const { query } = shown.endpoint
  const read = validate(query, fields)
  const { value } = read.wrong.length > 0 ? validate(query, {}) : read
  try {
    return await shown.show(reading, { ...path, query: value }, refused)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return await problemPage(ctx, error)
  }
}

/** A refusal in the words that stand above the form and beside its fields. */
export function refusedForm(
  error: unknown,
  values: Readonly<Record<string, unknown>>,
): RefusedForm {
  const { status } = answerFor(error)
  const fields = error instanceof Problem ? (error.fields ?? {}) : {}
  return { status, text: sentenceOf(error), fields, values }
}
