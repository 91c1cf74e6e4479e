import { setMaxListeners } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import type { Actor } from './access/actor.ts'
import { authenticate } from './access/authentication/authenticate.ts'
import type { Credentials } from './access/authentication/credentials.ts'
import { assertMayEnter } from './access/authentication/entry.ts'
import { signInClient } from './access/authentication/sign-in-client.ts'
import type { SettingValues } from './access/setting-definitions.ts'
import { apiEndpoints, schedules, tasks } from './areas.ts'
import { TaskRunner } from './background/runner.ts'
import type { Instant } from './base/clock.ts'
import type { Config } from './base/config.ts'
import { isDiskFull } from './base/full-disk.ts'
import type { Log } from './base/log.ts'
import type { Metrics } from './base/metrics.ts'
import { productVersion } from './base/version.ts'
import type { Ctx } from './ctx.ts'
import { bodyBudgets, bodyLimits } from './http/body/limits.ts'
import type { Endpoint } from './http/endpoint.ts'
import { cannotListen } from './http/listener/cannot-listen.ts'
import { answerClientErrors } from './http/listener/client-error.ts'
import { limitConnections } from './http/listener/connection-limit.ts'
import { createExpressServer } from './http/listener/express-server.ts'
import { openRequestLog } from './http/listener/request-log.ts'
import { type RunningRequest, RunningRequests } from './http/listener/running-requests.ts'
import { cutOffStalledReaders } from './http/listener/stalled-readers.ts'
import { followTlsFiles, readTlsPair, tlsFiles } from './http/listener/tls.ts'
import { noticeUntrustedProxy } from './http/listener/untrusted-proxy.ts'
import { mount, mountHost, unreadBodies } from './http/mount.ts'
import { openApiDocument } from './http/openapi.ts'
import { makePipeline } from './http/pipeline.ts'
import type { ApiRequest } from './http/request.ts'
import { Router as ApiRouter } from './http/router.ts'
import type { ThrottleRule } from './http/throttle.ts'
import { servePoint } from './instance/backups/point/serve-point.ts'
import { backupSchedules } from './instance/backups/schedule.ts'
import { healthSchedules } from './instance/health/tasks.ts'
import { openServerParts, type Parts, type PartsOptions } from './parts.ts'
import { recoverPushes } from './repositories/refs/journal/recover.ts'
import type { FolderSocket } from './store/data-folder/serve-socket.ts'
import { clearTemporary } from './store/temporary.ts'
import { mountGoGet } from './transport/http/go-get.ts'
import { mountGit } from './transport/http/mount.ts'
import { mountLfs } from './transport/http/mount-lfs.ts'
import { openSshServer, type SshServer } from './transport/ssh/server.ts'
import { serveSystemSsh } from './transport/ssh/system/serve-system.ts'
import { openTransport, type TransportOptions } from './transport/transport.ts'
import { apiReference } from './web/api-reference.ts'
import { assetFiles } from './web/assets.ts'
import { hostEndpoints } from './web/host-endpoints.ts'
import { missingPage, withMissingPage } from './web/missing-page.ts'
import { oldApi } from './web/old-api.ts'
import { pageEndpoints } from './web/pages.ts'
import { siteFiles } from './web/site-files.ts'

export interface AppOptions extends PartsOptions, TransportOptions {
  /** Check each answer against its schema (tests and development). */
  readonly checkResponses?: boolean
  /** False leaves background work lying until `runDueTasks` (tests). */
  readonly background?: boolean
}

/** A running server: everything mounted, not yet listening. */
export interface App {
  readonly server: Server
  readonly config: Config
  /** A ctx of the server itself, or of an actor. */
  makeCtx(actor?: Actor, ip?: string): Ctx
  /** Starts background work and listens as configured; gives the address. */
  listen(): Promise<AddressInfo>
  /** The requests that are being answered. */
  runningRequests(): RunningRequest[]
  /** Runs all background work that is due to its end, for tests. */
  runDueTasks(): Promise<void>
  /** Stops accepting, lets running requests end within the drain time, closes everything. */
  close(drainTime?: number): Promise<void>
}

/** How often a stop looks for connections that have become idle. */
const idleLookMs = 50
/** How often a start on a full disk looks whether there is room by now. */
const roomLookMs = 2000

/** Builds the lasting parts once and mounts the API, git transport and pages; the only place where all areas meet. */
export async function openApp(config: Config, options: AppOptions = {}): Promise<App> {
  const temporaryFolder = join(config.data, 'tmp')
  const files = tlsFiles(config)
  const pair = files && readTlsPair(files)
  const parts = await openServerParts(config, { ...options, wake: () => wakeSoon() })
  await mkdir(temporaryFolder, { recursive: true, mode: 0o700 })
  await clearTemporary(temporaryFolder)
  const { log } = parts
  const requestLog = openRequestLog({ config, log, now: parts.now })
  const makeCtx: Parts['makeCtx'] = (actor, ip) => {
    if (actor) requestLog.note(actor)
    return parts.makeCtx(actor, ip)
  }
  // Whoever made the work gets their answer first.
  const wakeSoon = () => void setTimeout(() => runner.wake(), 25).unref()
  const runner = new TaskRunner<Ctx>({
    tasks,
    schedules: [...schedules, ...backupSchedules(config), ...healthSchedules(config)],
    makeCtx: () => makeCtx(),
  })
  const budgets = bodyBudgets(config)
  const closing = new AbortController()
  // Every runner that waits for a job listens.
  setMaxListeners(0, closing.signal)
  const common = {
    makeCtx,
    async signIn(ctx: Ctx, credentials: Credentials, endpoint: Endpoint) {
      const actor = endpoint.client
        ? await signInClient(ctx, credentials, endpoint)
        : await authenticate(ctx, credentials, endpoint)
      await assertMayEnter(ctx, actor, { byPage: endpoint.session === 'only' })
      return actor
    },
    throttles: () => requestThrottles(parts.settings.all, config, log),
    isUnthrottled: unthrottled(config),
    isOffered: (feature: string) => parts.settings.offers(feature),
    limits: {
      ...bodyLimits(config),
      query: config.maxQuery,
      offset: config.maxOffset,
      temporaryFolder,
    },
    budgets,
    vendor: config.vendor,
    externalUrl: config.externalUrl,
    checkResponses: options.checkResponses ?? false,
    stopping: closing.signal,
  }
  const router = new ApiRouter(apiEndpoints.filter((one) => !one.host))
  const baseUrl = `${config.externalUrl}/api/v4`
  const handle = makePipeline({
    ...common,
    router,
    baseUrl,
  })
  const ofHost = [
    ...apiEndpoints.filter((one) => one.host),
    ...hostEndpoints,
    ...(config.pages === 'on' ? pageEndpoints : []),
  ]
  const hostRouter = new ApiRouter(ofHost)
  const handleHost = makePipeline({ ...common, router: hostRouter, baseUrl: config.externalUrl })
  const web = express()
  web.disable('x-powered-by')
  web.disable('etag')
  web.set('query parser', false)
  web.set('trust proxy', config.trustedProxies.length > 0 ? [...config.trustedProxies] : false)
  const running = new RunningRequests()
  web.use(requestLog.handler)
  web.use(counted(parts.metrics, running))
  web.use(unreadBodies())
  web.use(noticeUntrustedProxy(config.trustedProxies, log))
  web.use(belowPath(config.externalUrl))
  web.use('/-', apiReference(), assetFiles())
  web.use(siteFiles(config))
  web.get('/api/v4/openapi.json', (_request, response) => {
    response.type('application/json').send(describeApi(config))
  })
  web.use('/api/v4', mount(handle, log))
  web.use('/api/v3', mount(oldApi, log))
  const transport = await openTransport(config, options)
  web.use(mountGoGet({ makeCtx }))
  web.use(mountLfs({ makeCtx, budgets }))
  web.use(mountGit({ transport, makeCtx, budgets }))
  web.use(mountHost(hostRouter, withMissingPage(handleHost, config), log))
  web.use(missingPage(config))
  web.use(answerFault(log))
  const timeouts = {
    headersTimeout: config.requestTimeout,
    requestTimeout: 0,
    keepAliveTimeout: IDLE_CONNECTION_MS,
  }
  const server = createExpressServer(web, timeouts, pair)
  const unfollow = files && pair && followTlsFiles(server, { files, first: pair, log })
  // Whoever reads a body asks the client for it.
  server.on('checkContinue', web)
  limitConnections(server, config.trustedProxies)
  cutOffStalledReaders(server, config.readerIdle)
  let sweeping = Promise.resolve()
  let point: FolderSocket | undefined
  let ssh: SshServer | undefined
  let systemSsh: FolderSocket | undefined
  answerClientErrors(server)
  return {
    server,
    config,
    makeCtx,
    runningRequests: () => running.list(),
    runDueTasks: () => runner.runDue(),
    async listen() {
      await makeCtx().git.outliveOthers()
      await recoverMoves(makeCtx(), makeCtx().now(), closing.signal)
      point = await servePoint(makeCtx())
      if (options.background !== false) await runner.start()
      if (config.sshPort !== 0) {
        ssh = await openSshServer({ transport, makeCtx })
        await ssh.listen()
      }
      if (config.ssh.isOffered) systemSsh = await serveSystemSsh({ transport, makeCtx })
      const address = await listen(server, config, log)
      sweeping = removeLeftOvers(makeCtx(), closing.signal)
      return address
    },
    async close(drainTime = config.drainTime) {
      closing.abort()
      unfollow?.()
      await Promise.all([drain(server, drainTime), ssh?.close(drainTime)])
      await systemSsh?.close()
      await transport.close()
      await runner.stop(drainTime)
      await sweeping
      await point?.close()
      await parts.close()
      requestLog.close()
    },
  }
}

/**
 * How long a connection without a request stays open. On a busy machine the end of a short time may come up before a request
 * that has arrived within it, and whoever sent that sees a broken connection.
 */
const IDLE_CONNECTION_MS = 30_000

/**
 * Finalizes pushes that a crash left open. On a full disk that waits until there is room, and nobody can push before:
 * what is about to move is written down first.
 */
async function recoverMoves(ctx: Ctx, before: Instant, signal: AbortSignal): Promise<void> {
  try {
    await recoverPushes(ctx, before)
  } catch (error) {
    if (!isDiskFull(error)) throw error
    ctx.log.error('interrupted pushes wait for room on the disk', { error })
    const again = () =>
      void recoverMoves(ctx, before, signal).catch((failure: unknown) => {
        ctx.log.error('interrupted pushes cannot be finalized', { error: failure })
      })
    const timer = setTimeout(again, roomLookMs).unref()
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
}

/** What processes left in repositories that were killed with the last server; nothing that anybody waits for. */
async function removeLeftOvers({ git, log }: Ctx, signal: AbortSignal): Promise<void> {
  const removed = await git.removeLeftOvers(signal)
  if (removed > 0) log.warn('removed what killed processes had left', { removed })
}

/** Takes the path of the external URL off, where a proxy has left it: what lies below is all that the server knows. */
function belowPath(externalUrl: string): RequestHandler {
  const base = new URL(externalUrl).pathname.replace(/\/$/, '')
  return (request, _response, next) => {
    const { url } = request
    if (base !== '' && url.startsWith(base) && /^[/?]|^$/.test(url.slice(base.length))) {
      const rest = url.slice(base.length)
      request.url = rest.startsWith('/') ? rest : `/${rest}`
    }
    next()
  }
}

/** What a page could not answer: broken bodies are the caller's, the rest is ours, reported without detail. */
function answerFault(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const given = error instanceof Error && 'status' in error ? Number(error.status) : 500
    const status = given >= 400 && given < 500 ? given : 500
    if (status === 500) log.error('request failed', { error })
    if (response.headersSent) next(error)
    else
      response.status(status).json({
        message: status === 500 ? '500 Internal Server Error' : `${status} ${STATUS_CODES[status]}`,
      })
  }
}

/** Counts every request, whatever it is for. */
function counted(metrics: Metrics, running: RunningRequests): RequestHandler {
  return (request, response, next) => {
    running.add(request, response)
    const started = performance.now()
    const answered = metrics.begin(request.method)
    response.on('close', () => answered(response.statusCode, (performance.now() - started) / 1000))
    next()
  }
}

/** The request throttles as administrators have set them (docs/contract/A-resolved §6). */
function requestThrottles(settings: SettingValues, { rateLimitDryRun }: Config, log: Log) {
  const dryRun = (name: ThrottleRule['name']) =>
    rateLimitDryRun.includes(name)
      ? (caller: string) => log.warn('above the rate limit', { throttle: name, caller })
      : undefined
  const signedIn: ThrottleRule = {
    name: 'throttle_authenticated_api',
    dryRun: dryRun('throttle_authenticated_api'),
    enabled: settings.throttle_authenticated_api_enabled,
    requests: settings.throttle_authenticated_api_requests_per_period,
    periodSeconds: settings.throttle_authenticated_api_period_in_seconds,
  }
  const anonymous: ThrottleRule = {
    name: 'throttle_unauthenticated_api',
    dryRun: dryRun('throttle_unauthenticated_api'),
    enabled: settings.throttle_unauthenticated_api_enabled,
    requests: settings.throttle_unauthenticated_api_requests_per_period,
    periodSeconds: settings.throttle_unauthenticated_api_period_in_seconds,
  }
  return { signedIn, anonymous }
}

/** Whom the operator has excepted from the request throttles (docs/contract/A-resolved §6). */
function unthrottled({ rateLimitBypassHeader, rateLimitExempt }: Config) {
  const name = rateLimitBypassHeader?.toLowerCase()
  const exempt = new Set(rateLimitExempt)
  return (request: ApiRequest, userId: number | undefined): boolean =>
    (name !== undefined && request.headers[name] === '1') ||
    (userId !== undefined && exempt.has(userId))
}

const described = new WeakMap<Config, string>()

function describeApi(config: Config): string {
  const known = described.get(config)
  if (known !== undefined) return known
  const serverUrl = `${config.externalUrl}/api/v4`
  const about = { title: 'Gitstead REST API', version: productVersion, serverUrl }
  const text = JSON.stringify(openApiDocument(apiEndpoints, about))
  described.set(config, text)
  return text
}

function listen(server: Server, config: Config, log: Log): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, config)))
    server.listen(config.port, config.host, () => {
      // From here on it is a connection that could not be accepted.
      server.removeAllListeners('error').on('error', (error) => log.warn('not accepted', { error }))
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address)
    })
  })
}

/** Lets running requests end, then cuts what is left. */
async function drain(server: Server, milliseconds: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // A client that has got its answer keeps its connection for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), idleLookMs)
  const cut = setTimeout(() => server.closeAllConnections(), milliseconds)
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}
