import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { headOf, multipart, RawClient } from '../support/raw-request.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let ana: Caller
const faults: unknown[] = []
const note = (error: unknown) => void faults.push(error)
beforeAll(async () => {
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  world = await openWorld({ bodyIdle: 2000 })
  ana = await world.user('ana')
  await createProject(ana, 'demo', { initialize_with_readme: true })
})
afterAll(async () => {
  process.off('unhandledRejection', note)
  process.off('uncaughtException', note)
  await world.close()
})

const file = multipart([
  { name: 'note', value: 'some text' },
  { name: 'file', filename: 'a.txt', value: 'x'.repeat(400) },
])
const json = {
  type: 'application/json',
  body: Buffer.from(JSON.stringify({ text: 'é'.repeat(80) })),
}
const form = {
  type: 'application/x-www-form-urlencoded',
  body: Buffer.from(`text=${'%C3%A9'.repeat(40)}&gfm=true`),
}

/** Every kind of body, where it goes, and by whom. */
const kinds = [
  ['a form with a file, by nobody', 'POST /api/v4/markdown', file, false],
  ['the same to a page', 'POST /users/sign_in', file, false],
  ['the same with a read', 'GET /api/v4/projects', file, false],
  ['an upload', 'POST /api/v4/projects/ana%2Fdemo/uploads', file, true],
  [
    'an avatar',
    'PUT /api/v4/projects/ana%2Fdemo',
    multipart([{ name: 'avatar', filename: 'a.png', value: 'x'.repeat(300) }]),
    true,
  ],
  ['JSON', 'POST /api/v4/markdown', json, false],
  ['a form', 'POST /api/v4/markdown', form, false],
  [
    'a fetch',
    'POST /ana/demo.git/git-upload-pack',
    {
      type: 'application/x-git-upload-pack-request',
      body: Buffer.from('0032want 0000000000000000000000000000000000000000\n00000009done\n'),
    },
    true,
  ],
  [
    'a push',
    'POST /ana/demo.git/git-receive-pack',
    {
      type: 'application/x-git-receive-pack-request',
      body: Buffer.from(
        `00a8${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/x\0 report-status agent=test${' '.repeat(40)}0000PACK`,
      ),
    },
    true,
  ],
  [
    'a batch of large files',
    'POST /ana/demo.git/info/lfs/objects/batch',
    {
      type: 'application/vnd.git-lfs+json',
      body: Buffer.from('{"operation":"download","objects":[]}'),
    },
    true,
  ],
  [
    'a large file',
    `PUT /ana/demo.git/svc-lfs/objects/${'a'.repeat(64)}/200`,
    { type: 'application/octet-stream', body: Buffer.alloc(200, 1) },
    true,
  ],
] as const

/** Sends the first bytes of a request and is gone. */
async function cut(whole: Buffer, at: number): Promise<void> {
  const client = await RawClient.open(world.url)
  await new Promise<void>((resolve) => client.socket.write(whole.subarray(0, at), () => resolve()))
  // Half of the clients say that they go, the other half is just gone.
  if (at % 2 === 0) client.socket.end()
  else client.socket.resetAndDestroy()
  if (at % 2 === 0) await client.whole()
}

test.each(kinds)(
  'a connection that is cut anywhere in %s does no harm and leaves nothing behind',
  async (_, line, { type, body }, signedIn) => {
    const basic = Buffer.from(`ana:${ana.token}`).toString('base64')
    const isApi = line.includes(' /api/')
    const credentials: Record<string, string> = !signedIn
      ? {}
      : isApi
        ? { 'PRIVATE-TOKEN': ana.token ?? '' }
        : { Authorization: `Basic ${basic}` }
    const head = headOf(line, {
      'Content-Type': type,
      ...credentials,
      'Content-Length': body.length,
    })
    const whole = Buffer.concat([Buffer.from(head), body])
    // Every byte of a body, where the run is a long one (npm run torture).
    const step = Math.max(1, Math.floor(body.length / 60))
    const places: number[] = []
    for (let at = head.length; at < whole.length; at += step) places.push(at)
    while (places.length > 0) {
      await Promise.all(places.splice(0, 20).map((at) => cut(whole, at)))
    }
    await expect.poll(() => readdirSync(join(world.folder, 'tmp')), { timeout: 10_000 }).toEqual([])
    await expect.poll(() => readdirSync(join(world.folder, 'files', 'tmp'))).toEqual([])
    expect((await world.nobody.get('/-/health', { host: true })).status).toBe(200)
    expect(faults).toEqual([])
  },
  60_000,
)

test('a form that ends within a file is refused, also when the connection goes on', async () => {
  const { type, body } = file
  for (const [line, token] of [
    ['POST /api/v4/markdown', undefined],
    ['POST /users/sign_in', undefined],
    ['POST /api/v4/projects/ana%2Fdemo/uploads', ana.token],
  ] as const) {
    for (const length of [body.length - 30, body.length - 200, body.length - 430]) {
      const client = await RawClient.open(world.url)
      const headers = { 'Content-Type': type, ...(token ? { 'PRIVATE-TOKEN': token } : {}) }
      client.write(headOf(line, { ...headers, 'Content-Length': length }))
      client.write(body.subarray(0, length))
      expect((await client.head()).status).toBe(400)
      client.socket.destroy()
    }
  }
  expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
  expect(faults).toEqual([])
})

test('a file where none belongs, or a second one, is refused', async () => {
  const send = async (names: readonly string[]) => {
    const form = new FormData()
    for (const name of names) form.append(name, new Blob(['text']), 'a.txt')
    return await ana.post('/projects/ana%2Fdemo/uploads', undefined, { raw: form })
  }
  expect((await send(['file'])).status).toBe(201)
  expect(await send(['file', 'file'])).toMatchObject({
    status: 400,
    body: { error: 'file is invalid' },
  })
  expect(await send(['other'])).toMatchObject({ status: 400, body: { error: 'other is invalid' } })
  expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
})

test.each(['npm/demo', 'conan/v1/conans/a/1/b/c/packages/d/upload_urls'])(
  'a body of %s that is not packed as it says is refused',
  async (path) => {
    const method = path.startsWith('npm') ? 'PUT' : 'POST'
    const response = await fetch(`${world.url}/api/v4/projects/1/packages/${path}`, {
      method,
      headers: {
        'PRIVATE-TOKEN': String(ana.token),
        'Content-Type': 'application/json',
        'Content-Encoding': 'gzip',
      },
      body: '{}',
    })
    expect(response.status).toBe(400)
  },
)
