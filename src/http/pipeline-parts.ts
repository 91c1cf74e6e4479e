import type { Readable } from 'node:stream'
import type { Actor } from '../access/actor.ts'
import type { Credentials } from '../access/authentication/credentials.ts'
import type { Vendor } from '../base/vendor.ts'
import type { Ctx } from '../ctx.ts'
import type { BodyBudgets, BodyLimits } from './body/limits.ts'
import type { Endpoint } from './endpoint.ts'
import type { ApiRequest } from './request.ts'
import type { Router } from './router.ts'
import type { ThrottleRule } from './throttle.ts'

/** An answer without any Express in it. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | Readable | null
  /** What went wrong on our side, for the log. */
  readonly fault?: unknown
}

/** What the pipeline is given by `app.ts`. */
export interface PipelineParts {
  readonly router: Router
  /** The request's ctx for an actor. */
  makeCtx(actor: Actor, ip: string): Ctx
  /** Who the credentials are; `endpoint` declares which kinds it admits. */
  signIn(ctx: Ctx, credentials: Credentials, endpoint: Endpoint): Promise<Actor>
  /** The request throttles as settings have them now. */
  throttles(): { readonly signedIn: ThrottleRule; readonly anonymous: ThrottleRule }
  /** Whether the operator has excepted a request, or its user, from the request throttles. */
  isUnthrottled(request: ApiRequest, userId: number | undefined): boolean
  /** Whether the instance offers what the endpoint needs. */
  isOffered(setting: string): boolean
  readonly limits: BodyLimits & {
    readonly temporaryFolder: string
    readonly query: number
    /** Deepest row of offset pages where there are keyset pages; 0 for any. */
    readonly offset: number
  }
  readonly budgets: BodyBudgets
  /** `{external URL}/api/v4`. */
  readonly baseUrl: string
  /** The server itself, as people reach it. */
  readonly externalUrl: string
  readonly vendor: Vendor
  /** Responses are checked against their schemas (tests and development). */
  readonly checkResponses: boolean
  /** Raised when the server is about to stop. */
  readonly stopping: AbortSignal
}
