import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { headOf, multipart, RawClient } from '../support/raw-request.ts'
import { useCaller, useWorld } from '../support/world.ts'

const MEGABYTES = 31 * 1024 * 1024

const world = useWorld({ bodyIdle: 400 })
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
beforeAll(async () => {
  await createProject(ana, 'hidden')
  await createProject(ana, 'open', { visibility: 'public' })
})

/** Announces a body of 31 MB, sends nothing of it, and gives the answer. */
async function announce(line: string, headers: Readonly<Record<string, string>>) {
  const client = await RawClient.open(world.url)
  client.write(headOf(line, { 'Content-Length': MEGABYTES, ...headers }))
  const reply = await client.head()
  client.socket.destroy()
  return reply
}

describe('a body is not waited for', () => {
  const json = { 'Content-Type': 'application/json' }
  test.each([
    ['an unknown path', 'POST /api/v4/nowhere', 404],
    ['an unknown method', 'PUT /api/v4/version', 405],
    ['a page that is none', 'POST /nowhere/at/all', 404],
    ['nobody who creates a project', 'POST /api/v4/projects', 401],
    ['nobody in a hidden project', 'POST /api/v4/projects/ana%2Fhidden/issues', 404],
    ['nobody who writes a file', 'POST /api/v4/projects/ana%2Fopen/repository/files/a', 401],
    ['a read', 'GET /api/v4/version', 401],
    ['a push', 'POST /ana/open.git/git-receive-pack', 415],
    ['a lock', 'POST /ana/open.git/info/lfs/locks', 401],
    ['a large file', `PUT /ana/open.git/svc-lfs/objects/${'a'.repeat(64)}/5`, 401],
    ['a body beyond the limit of strangers', 'POST /api/v4/markdown', 413],
  ])('of %s', async (_, line, status) => {
    expect((await announce(line, json)).status).toBe(status)
  })

  test('of a token that is wrong, lacks the scope, or may not', async () => {
    const wrong = { ...json, 'PRIVATE-TOKEN': 'wrong' }
    expect((await announce('POST /api/v4/projects', wrong)).status).toBe(401)
    const reads = { ...json, 'PRIVATE-TOKEN': await world.token(ana.id, ['read_api']) }
    expect((await announce('POST /api/v4/projects', reads)).status).toBe(403)
    const guest = { ...json, 'PRIVATE-TOKEN': eve.token ?? '' }
    const path = '/api/v4/projects/ana%2Fopen/repository/commits'
    expect((await announce(`POST ${path}`, guest)).status).toBe(403)
  })

  test('of a type that nobody reads', async () => {
    const headers = { 'Content-Type': 'text/plain', 'PRIVATE-TOKEN': ana.token ?? '' }
    expect((await announce('POST /api/v4/projects', headers)).status).toBe(415)
  })
})

describe('an early refusal', () => {
  test('ends the connection, and reaches a client that listens only when it has sent everything', async () => {
    const client = await RawClient.open(world.url)
    const length = 8 * 1024 * 1024
    client.socket.pause()
    const headers = { 'Content-Type': 'application/json', 'Content-Length': length }
    client.write(headOf('POST /api/v4/projects', headers))
    await new Promise((resolve) => client.socket.write(Buffer.alloc(length, ' '), resolve))
    client.socket.resume()
    const reply = await client.whole()
    expect(reply.status).toBe(401)
    expect(reply.text).toMatch(/^Connection: close\r$/im)
    expect(reply.text).toContain('{"message":"401 Unauthorized"}')
  })

  test('ends the connection of a client that goes on for ever', async () => {
    const client = await RawClient.open(world.url)
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }
    client.write(headOf('POST /api/v4/projects', headers))
    const timer = setInterval(() => client.write('1\r\nx\r\n'), 50)
    const reply = await client.whole().finally(() => clearInterval(timer))
    expect(reply.status).toBe(401)
  }, 15_000)

  test('of a request that is there as a whole keeps the connection', async () => {
    const client = await RawClient.open(world.url)
    const headers = { 'Content-Type': 'application/json', 'Content-Length': 2 }
    const one = `${headOf('POST /api/v4/projects', headers)}{}`
    client.write(one)
    expect((await client.head()).text).not.toMatch(/Connection: close/i)
    client.write(headOf('GET /api/v4/nowhere', { Connection: 'close' }))
    expect((await client.whole()).status).toBe(404)
  })
})

describe('100-continue', () => {
  const expecting = { Expect: '100-continue', 'Content-Type': 'application/json' }

  test('is said to whoever may send the body', async () => {
    const client = await RawClient.open(world.url)
    const body = JSON.stringify({ name: 'continued' })
    const headers = {
      ...expecting,
      'PRIVATE-TOKEN': ana.token ?? '',
      'Content-Length': body.length,
    }
    client.write(headOf('POST /api/v4/projects', { ...headers, Connection: 'close' }))
    await expect.poll(() => client.text).toContain('100 Continue')
    expect((await client.write(body).whole()).status).toBe(201)
  })

  test('is not said to whoever is refused', async () => {
    const refused = await announce('POST /api/v4/projects', expecting)
    expect(refused).toMatchObject({ status: 401, continued: false })
    const large = {
      ...expecting,
      'PRIVATE-TOKEN': ana.token ?? '',
      'Content-Length': '99999999999',
    }
    expect(await announce('POST /api/v4/projects', large)).toMatchObject({
      status: 413,
      continued: false,
    })
  })
})

describe('a token in a form', () => {
  test('is found in the first 16 kB, and a body without one is not read on', async () => {
    const raw = new URLSearchParams({ private_token: ana.token ?? '', name: 'by-form' })
    expect((await world.nobody.post('/projects', undefined, { raw })).status).toBe(201)
    const form = new FormData()
    form.set('private_token', ana.token ?? '')
    form.set('name', 'by-multipart')
    expect((await world.nobody.post('/projects', undefined, { raw: form })).status).toBe(201)
    const late = new URLSearchParams({ name: 'x'.repeat(17_000), private_token: ana.token ?? '' })
    expect((await world.nobody.post('/projects', undefined, { raw: late })).status).toBe(401)
  })

  test('may be called an access token, as OAuth has it', async () => {
    const raw = new URLSearchParams({ access_token: ana.token ?? '', name: 'by-access-token' })
    expect((await world.nobody.post('/projects', undefined, { raw })).status).toBe(201)
    const wrong = new URLSearchParams({ access_token: 'wrong', name: 'by-nobody' })
    expect((await world.nobody.post('/projects', undefined, { raw: wrong })).status).toBe(401)
  })

  test('is waited for no longer than for any other byte', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await announce('POST /api/v4/projects', form)).status).toBe(408)
  })

  test('gives way to no caller who is let in without it: sudo in a body is heeded', async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    const reply = await world.as(token).post('/projects', { name: 'for-eve', sudo: 'eve' })
    expect(reply.body.path_with_namespace).toBe('eve/for-eve')
    const hidden = await world.as(token).put('/projects/ana%2Fhidden', { name: 'x', sudo: 'eve' })
    expect(hidden.status).toBe(404)
  })
})

describe('where the spec tells of wrong parameters before it looks for the subject', () => {
  test('a caller without access is told of them, when the body is small', async () => {
    const path = '/projects/ana%2Fhidden/deploy_tokens'
    expect((await eve.post(path, { name: 'x' })).body.error).toContain('scopes is missing')
    const good = { name: 'x', scopes: ['read_repository'] }
    expect((await eve.post(path, good)).status).toBe(404)
    const large = { name: 'x'.repeat(20_000) }
    expect((await eve.post(path, large)).status).toBe(404)
  })
})

test('no file is kept for a request that has none to send', async () => {
  const { type, body } = multipart([{ name: 'file', filename: 'a', value: 'x'.repeat(100_000) }])
  const headers = { 'Content-Type': type, 'PRIVATE-TOKEN': ana.token ?? '' }
  for (const line of [
    'GET /api/v4/user',
    'DELETE /api/v4/projects/ana%2Fopen/star',
    'POST /api/v4/markdown',
  ]) {
    const client = await RawClient.open(world.url)
    client
      .write(headOf(line, { ...headers, 'Content-Length': body.length + 1_000_000 }))
      .write(body)
    expect((await client.head()).status).toBeGreaterThan(0)
    expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
    client.socket.destroy()
  }
})

test('a body of which nothing comes for a while ends with 408', async () => {
  const headers = { 'Content-Type': 'application/json', 'PRIVATE-TOKEN': ana.token ?? '' }
  const client = await RawClient.open(world.url)
  client.write(headOf('POST /api/v4/projects', { ...headers, 'Content-Length': 100 })).write('{"na')
  const reply = await client.whole()
  expect(reply.status).toBe(408)
  expect(reply.text).toContain('{"message":"408 Request Timeout"}')
})

test('an address that is too long answers 414, headers that are 431', async () => {
  for (const length of [9000, 17_000, 60_000, 300_000]) {
    const client = await RawClient.open(world.url)
    client.write(headOf(`GET /api/v4/projects?search=${'x'.repeat(length)}`, {}))
    expect((await client.head()).status, String(length)).toBe(414)
    client.socket.destroy()
  }
  const client = await RawClient.open(world.url)
  client.write(headOf('GET /api/v4/version', { 'X-Long': 'x'.repeat(20_000) }))
  expect((await client.whole()).status).toBe(431)
})
