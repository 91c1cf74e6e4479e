import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type Dispatcher, Pool } from 'undici'
import { afterAll, beforeAll } from 'vitest'
import { digestOf } from '../../src/access/token-use.ts'
import { type App, type AppOptions, openApp } from '../../src/app.ts'
import { type Config, makeConfig } from '../../src/base/config.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Ctx } from '../../src/ctx.ts'
import { EnginePool } from '../../src/git/engine/pool.ts'
import { createUser } from '../../src/identity/users/create/create-user.ts'
import { noteAnswer } from './answered.ts'
import { newFolder, placeDatabase } from './database.ts'

/** An answer as tests look at it. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The parsed JSON, or the text when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever shape the endpoint answers
  readonly body: any
}

export interface CallOptions {
  /** The path is below the server itself, not below `/api/v4`. */
  readonly host?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is, with the content type of `headers`. */
  readonly raw?: string | Uint8Array<ArrayBuffer> | FormData | URLSearchParams
}

/** Somebody who calls the API: a user with a token, or nobody. */
export class Caller {
  readonly baseUrl: string
  readonly token: string | null
  readonly id: number
  readonly username: string
  /** The header that the token goes in. */
  readonly header: string

  constructor(
    baseUrl: string,
    token: string | null,
    id: number,
    username: string,
    header = 'PRIVATE-TOKEN',
  ) {
    this.header = header
    this.baseUrl = baseUrl
    this.token = token
    this.id = id
    this.username = username
  }

  get(path: string, options?: CallOptions) {
    return this.call('GET', path, undefined, options)
  }
  head(path: string, options?: CallOptions) {
    return this.call('HEAD', path, undefined, options)
  }
  post(path: string, body?: unknown, options?: CallOptions) {
    return this.call('POST', path, body, options)
  }
  put(path: string, body?: unknown, options?: CallOptions) {
    return this.call('PUT', path, body, options)
  }
  patch(path: string, body?: unknown, options?: CallOptions) {
    return this.call('PATCH', path, body, options)
  }
  delete(path: string, body?: unknown, options?: CallOptions) {
    return this.call('DELETE', path, body, options)
  }

  /** Calls a path below `/api/v4`; a body that is not raw goes as JSON. Redirects are not followed. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Reply> {
    const headers: Record<string, string> = { 'User-Agent': 'gitstead-test', ...options.headers }
    if (this.token !== null) headers[this.header] = this.token
    if (body !== undefined) headers['Content-Type'] ??= 'application/json'
    let payload = options.raw ?? (body === undefined ? null : JSON.stringify(body))
    if (payload instanceof FormData || payload instanceof URLSearchParams) {
      const form = new Response(payload)
      headers['Content-Type'] ??= form.headers.get('Content-Type') ?? ''
      payload = new Uint8Array(await form.arrayBuffer())
    }
    const { pathname, search } = new URL(`${this.baseUrl}${options.host ? '' : '/api/v4'}${path}`)
    // `fetch` takes as long again as the server does, and half of all tests are such calls.
    const response = await connectionsTo(this.baseUrl).request({
      path: pathname + search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: payload,
    })
    const text = await response.body.text()
    return { status: response.statusCode, headers: headersOf(response.headers), body: parse(text) }
  }
}

const pools = new Map<string, Pool>()

/**
 * The connections to a server. The agent that undici uses by itself makes a new one for each call from then on when it has
 * once closed one, as it does after each DELETE with a body.
 */
function connectionsTo(origin: string): Pool {
  const known = pools.get(origin)
  if (known) return known
  const made = new Pool(origin)
  pools.set(origin, made)
  return made
}

export function headersOf(given: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(given))
    for (const one of [value].flat()) headers.append(name, one)
  return headers
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A listening server with data of its own, and people made at will. The clock stands unless a test moves it. */
export interface World {
  readonly app: App
  readonly ctx: Ctx
  readonly url: string
  readonly folder: string
  /** The administrator. */
  readonly root: Caller
  readonly nobody: Caller
  /** A new user, or one that was in the folder already, with a token of all scopes a user may have. */
  user(username: string, more?: { admin?: boolean; external?: boolean }): Promise<Caller>
  /** A token of these scopes for a user. */
  token(userId: number, scopes: readonly string[]): Promise<string>
  as(token: string): Caller
  /** Somebody whose token goes in another header than `PRIVATE-TOKEN`. */
  withHeader(header: string, token: string): Caller
  setNow(instant: string): void
  /** Runs background work that is due, and what follows from it, to its end. */
  runTasks(): Promise<void>
  close(): Promise<void>
}

/** Engine processes take a second to start: worlds that say nothing of theirs share these. */
export const sharedEngine = new EnginePool({ processes: Math.min(availableParallelism(), 4) })

function hasOwnEngine({ engineProcesses, engineMemory, engineTimeout }: Partial<Config>): boolean {
  return [engineProcesses, engineMemory, engineTimeout].some((value) => value !== undefined)
}

export async function openWorld(
  given: Partial<Config> = {},
  options: Pick<AppOptions, 'atStep' | 'background' | 'log'> = {},
): Promise<World> {
  const folder = given.data ?? newFolder()
  mkdirSync(folder, { recursive: true })
  placeDatabase(folder)
  let now = '2026-05-04T10:00:00.000Z'
  const config = makeConfig({
    data: folder,
    port: 0,
    drainTime: 100,
    // It starts the command, seconds of work for each world.
    healthSchedule: 'off',
    ...given,
  })
  const app = await openApp(config, {
    now: () => now,
    log: silentLog,
    checkResponses: true,
    synchronous: 'off',
    engine: hasOwnEngine(given) ? undefined : sharedEngine,
    ...options,
  })
  // Whoever asks, a test's own caller or a real client: which endpoints answered well is seen here.
  app.server.prependListener('request', (request, response) => {
    const path = (request.url ?? '').replace(/^\/api\/v4(?=\/)/, '')
    response.once('finish', () => noteAnswer(request.method ?? '', path, response.statusCode))
  })
  const { port } = await app.listen()
  const url = `http://127.0.0.1:${port}`
  const ctx = app.makeCtx()
  const token = async (userId: number, scopes: readonly string[]) => {
    const secret = `test-${randomBytes(12).toString('hex')}`
    await ctx.db
      .insertInto('access_tokens')
      .values({
        kind: 'personal',
        user_id: userId,
        name: 'test',
        digest: digestOf(secret),
        scopes: JSON.stringify(scopes),
        created_at: now,
        updated_at: now,
      })
      .execute()
    return secret
  }
  const user: World['user'] = async (username, more = {}) => {
    const known = ctx.db.selectFrom('users').select('id').where('username', '=', username)
    const { id } =
      (await known.executeTakeFirst()) ??
      (await createUser(ctx, {
        username,
        name: username,
        email: `${username}@example.com`,
        admin: more.admin ?? false,
        external: more.external ?? false,
        skip_confirmation: true,
      }))
    const scopes = more.admin ? ['api', 'sudo'] : ['api']
    return new Caller(url, await token(id, scopes), id, username)
  }
  const root = await user('root', { admin: true })
  return {
    app,
    ctx,
    url,
    folder,
    root,
    nobody: new Caller(url, null, 0, ''),
    user,
    token,
    as: (secret) => new Caller(url, secret, 0, ''),
    withHeader: (header, secret) => new Caller(url, secret, 0, '', header),
    setNow: (instant) => {
      now = instant
    },
    runTasks: () => app.runDueTasks(),
    async close() {
      await app.close()
      pools.delete(url)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A world that is opened before the tests of a file, or of the `describe` that this stands in, and closed after them. */
export function useWorld(...given: Parameters<typeof openWorld>): World {
  // Filled when it is open: what stands beside the tests can name it before.
  const world = {} as World
  let opened: World | undefined
  beforeAll(async () => {
    opened = await openWorld(...given)
    Object.assign(world, opened)
  })
  afterAll(() => opened?.close())
  return world
}

/** A user of such a world, made before the tests. */
export function useCaller(world: World, ...given: Parameters<World['user']>): Caller {
  const caller: Caller = Object.create(Caller.prototype)
  beforeAll(async () => {
    Object.assign(caller, await world.user(...given))
  })
  return caller
}
