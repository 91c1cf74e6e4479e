import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { headOf, RawClient } from '../../support/raw-request.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { type Prepared, UpstreamServer } from './upstream-server.ts'

const ROOT = '/virtual_registries/packages/maven'
const JAR = 'org/x/tool/1.0/tool-1.0.jar'
const world = useWorld(
  { outboundAllow: ['127.0.0.1'], outboundTimeout: 5000 },
  { background: false },
)
const ana = useCaller(world, 'ana')
let groupId: number
let server: UpstreamServer
let other: UpstreamServer

beforeAll(async () => {
  server = await UpstreamServer.open()
  other = await UpstreamServer.open()
})
afterAll(async () => {
  await server.close()
  await other.close()
})
let count = 0
let groups = 0
beforeEach(async () => {
  server.reset()
  other.reset()
  world.setNow('2026-05-04T10:00:00.000Z')
  // A group has twenty registries at most.
  groups += 1
  groupId = (await createGroup(ana, `g${groups}`)).id
})

/** A registry of these upstreams in their order; each has a folder of its own on the server. */
async function newRegistry(...upstreams: readonly object[]) {
  count += 1
  const name = { name: `registry ${count}` }
  const { id } = (await ana.post(`/groups/${groupId}/-${ROOT}/registries`, name)).body
  const made: { id: number; folder: string; link: number }[] = []
  for (const more of upstreams) {
    count += 1
    const url = `${server.url}/m${count}`
    const answer = await ana.post(`${ROOT}/registries/${id}/upstreams`, { url, ...more })
    expect([answer.status, answer.body]).toMatchObject([201, {}])
    made.push({ id: answer.body.id, folder: `m${count}`, link: answer.body.registry_upstream.id })
  }
  const [first] = made
  if (!first) throw new Error('no upstream')
  return { id: id as number, first, all: made }
}

const get = (registry: { id: number }, path = JAR, headers = {}, who = ana) =>
  who.get(`${ROOT}/${registry.id}/${path}`, { headers })
const entriesOf = async (upstream: { id: number }) =>
  (await ana.get(`${ROOT}/upstreams/${upstream.id}/cache_entries`)).body
/** Waits until what was fetched last is in the table. */
async function kept(upstream: { id: number }, path = JAR) {
  return await expect
    .poll(async () =>
      (await entriesOf(upstream)).find(
        (one: { relative_path: string }) => one.relative_path === path,
      ),
    )
    .toBeDefined()
}
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

describe('a file', () => {
  test('is answered with what its upstream said, and safely', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = {
      body: 'the jar',
      headers: { 'Content-Type': 'application/java-archive' },
    }
    const first = await get(registry)
    await kept(registry.first)
    const second = await get(registry)
    for (const answer of [first, second]) {
      expect([answer.status, answer.body]).toEqual([200, 'the jar'])
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/java-archive',
        'content-length': '7',
        'content-disposition': 'attachment; filename="tool-1.0.jar"',
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
      })
    }
    for (const { headers } of [first, second]) {
      expect(headers.get('x-checksum-sha1')).toBe(sha1('the jar'))
      expect(headers.get('x-checksum-md5')).toBe(md5('the jar'))
    }
  })

  const sums = (text: string) => ({ 'X-Checksum-Sha1': sha1(text), 'X-Checksum-Md5': md5(text) })
  const large = 'x'.repeat(9 * 1024 * 1024)
  test.each<[string, Prepared, Readonly<Record<string, Prepared>>]>([
    ['said with it', { body: 'a jar', headers: sums('a jar') }, {}],
    ['said with it, however large it is', { body: large, headers: sums(large) }, {}],
    [
      'beside one that is large',
      { body: large },
      { '.sha1': { body: sha1(large) }, '.md5': { body: `${md5(large).toUpperCase()}  a.jar\n` } },
    ],
    ['nowhere', { body: large }, {}],
    ['beside it and none', { body: large }, { '.sha1': { body: 'x' }, '.md5': { body: '' } }],
    ['nowhere, without a length', { body: 'some', headers: { 'Content-Length': null } }, {}],
  ])('has its hashes from the first on, where they are %s', async (_where, file, beside) => {
    const registry = await newRegistry({})
    const at = `${registry.first.folder}/${JAR}`
    server.files = Object.fromEntries(
      Object.entries({ '': file, ...beside }).map(([end, one]) => [`${at}${end}`, one]),
    )
    const { status, body, headers } = await get(registry)
    expect([status, sha1(String(body))]).toEqual([200, sha1(file.body ?? '')])
    expect(headers.get('x-checksum-sha1')).toBe(sha1(file.body ?? ''))
    expect(headers.get('x-checksum-md5')).toBe(md5(file.body ?? ''))
    await kept(registry.first)
    expect((await entriesOf(registry.first))[0].downloads_count).toBe(1)
  })

  test('comes from an upstream whose name has an address that is allowed', async () => {
    const registry = await newRegistry({})
    const url = `${server.url.replace('127.0.0.1', 'localhost')}/named`
    const changed = await ana.patch(`${ROOT}/upstreams/${registry.first.id}`, { url })
    expect(changed.status).toBe(200)
    server.files[`named/${JAR}`] = { body: 'the jar' }
    expect((await get(registry)).body).toBe('the jar')
  })

  test('that is kept is answered in part, and not again to those who have it', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = { body: '0123456789' }
    await get(registry)
    await kept(registry.first)
    const part = await get(registry, JAR, { Range: 'bytes=2-4' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 2-4/10'])
    expect(String(part.body)).toBe('234')
    const etag = part.headers.get('etag') ?? ''
    const known = await get(registry, JAR, { 'If-None-Match': etag })
    expect([known.status, known.body]).toEqual([304, ''])
  })

  test('is asked about by HEAD without being fetched, and that is no download', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = { body: 'the jar' }
    const path = `${ROOT}/${registry.id}/${JAR}`
    const head = await ana.head(path)
    expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, '7', ''])
    expect(server.lines).toEqual([`HEAD ${registry.first.folder}/${JAR}`])
    expect(await entriesOf(registry.first)).toEqual([])
    expect((await ana.head(`${path}x`)).status).toBe(404)
    await get(registry)
    await kept(registry.first)
    server.asked = []
    expect((await ana.head(path)).headers.get('x-checksum-sha1')).toBe(sha1('the jar'))
    expect(server.lines).toEqual([])
    expect((await entriesOf(registry.first))[0].downloads_count).toBe(1)
  })

  test('says how often it was downloaded, and when last', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = { body: 'the jar' }
    await get(registry)
    await kept(registry.first)
    world.setNow('2026-05-04T11:00:00.000Z')
    await get(registry)
    await get(registry)
    const [entry] = await entriesOf(registry.first)
    expect(entry).toMatchObject({
      downloads_count: 3,
      downloaded_at: '2026-05-04T11:00:00.000Z',
      created_at: '2026-05-04T10:00:00.000Z',
      upstream_checked_at: '2026-05-04T10:00:00.000Z',
      file_sha1: sha1('the jar'),
      file_md5: md5('the jar'),
      content_type: 'application/octet-stream',
    })
  })

  test('of nothing is a file too', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = { body: '' }
    expect(await get(registry)).toMatchObject({ status: 200, body: '' })
    await kept(registry.first)
    expect((await get(registry)).headers.get('x-checksum-sha1')).toBe(sha1(''))
  })

  test('is asked for by its name as it is written, letter for letter', async () => {
    const registry = await newRegistry({})
    const name = 'org/x/a+b/1.0%201/a b#c?d-ü.jar'
    const encoded = name.split('/').map(encodeURIComponent).join('/')
    server.files[`${registry.first.folder}/${encoded}`] = { body: 'odd' }
    expect((await get(registry, encoded)).body).toBe('odd')
    await kept(registry.first, name)
    const entry = (await entriesOf(registry.first))[0]
    expect(Buffer.from(entry.id, 'base64url').toString()).toBe(`${registry.first.id} ${name}`)
    expect((await ana.delete(`${ROOT}/cache_entries/${entry.id}`)).status).toBe(204)
    expect((await ana.delete(`${ROOT}/cache_entries/${entry.id}`)).status).toBe(404)
  })

  test.each([
    '',
    '/',

    '%2e%2e%2fx',
    'a/%2e%2e%2fb',
    'a/.%2fb',
    'a%5c..%5cb',
    'a/%00',
    'a'.repeat(1025),
  ])('has no such path as %j', async (path) => {
    const registry = await newRegistry({})
    expect([400, 404]).toContain((await get(registry, path)).status)
    expect(server.asked).toEqual([])
  })

  test('is not for browsers, which would run it', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = { body: 'the jar' }
    const client = await RawClient.open(world.url)
    const headers = { 'PRIVATE-TOKEN': ana.token ?? '', 'Sec-Fetch-Mode': 'navigate' }
    client.write(headOf(`GET /api/v4${ROOT}/${registry.id}/${JAR}`, headers))
    expect((await client.head()).status).toBe(400)
    client.socket.destroy()
    expect(server.asked).toEqual([])
  })

  test('is not published through a registry, by whatever method', async () => {
    const registry = await newRegistry({})
    const path = `${ROOT}/${registry.id}/${JAR}`
    expect((await ana.post(`${path}/upload`, undefined, { raw: 'x' })).status).toBe(403)
    expect((await world.nobody.post(`${path}/upload`, undefined, { raw: 'x' })).status).toBe(401)
    for (const method of ['PUT', 'DELETE', 'POST', 'PATCH']) {
      expect([404, 405]).toContain((await ana.call(method, path, undefined, { raw: 'x' })).status)
    }
    expect(server.asked).toEqual([])
  })
})

describe('a hash', () => {
  test('of a file that is kept is that of what is kept', async () => {
    const registry = await newRegistry({})
    const at = `${registry.first.folder}/${JAR}`
    server.files[at] = { body: 'the jar' }
    server.files[`${at}.sha1`] = { body: 'a lie' }
    await get(registry)
    await kept(registry.first)
    server.asked = []
    const digest = await get(registry, `${JAR}.sha1`)
    expect([digest.status, digest.body, digest.headers.get('content-type')]).toEqual([
      200,
      sha1('the jar'),
      'text/plain',
    ])
    expect((await get(registry, `${JAR}.md5`)).body).toBe(md5('the jar'))
    expect(server.lines).toEqual([])
  })

  test('of one that is not kept is its upstream’s, and the file comes behind it', async () => {
    const registry = await newRegistry({})
    const at = `${registry.first.folder}/${JAR}`
    server.files[at] = { body: 'the jar' }
    server.files[`${at}.sha1`] = { body: sha1('the jar') }
    expect((await get(registry, `${JAR}.sha1`)).body).toBe(sha1('the jar'))
    await kept(registry.first)
    expect((await get(registry)).body).toBe('the jar')
    expect(server.lines).toEqual([`HEAD ${at}.sha1`, `GET ${at}.sha1`, `GET ${at}`])
    expect(
      (await entriesOf(registry.first)).map((one: { relative_path: string }) => one.relative_path),
    ).toEqual([JAR])
  })

  test('of another kind is a file like others, and so is a signature', async () => {
    const registry = await newRegistry({})
    for (const kind of ['sha256', 'sha512', 'asc']) {
      server.files[`${registry.first.folder}/${JAR}.${kind}`] = { body: `a ${kind}` }
      expect((await get(registry, `${JAR}.${kind}`)).body).toBe(`a ${kind}`)
      await kept(registry.first, `${JAR}.${kind}`)
    }
  })

  test('that is none, or not there, is refused', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}.md5`] = { body: 'x'.repeat(2000) }
    expect((await get(registry, `${JAR}.md5`)).status).toBe(502)
    expect((await get(registry, `${JAR}.sha1`)).status).toBe(404)
    expect(await entriesOf(registry.first)).toEqual([])
  })
})

describe('of several upstreams', () => {
  test('the first in order that has a file serves it, however slow it is', async () => {
    const registry = await newRegistry({}, {}, {}, {})
    const [none, slow, fast, last] = registry.all.map((one) => `${one.folder}/${JAR}`)
    server.files[String(slow)] = {
      answer: (request, response) => {
        const body = 'from the slow one'
        setTimeout(() => {
          response.writeHead(200, { 'Content-Length': body.length })
          response.end(request.method === 'HEAD' ? undefined : body)
        }, 60)
      },
    }
    server.files[String(fast)] = { body: 'from the fast one' }
    server.files[String(last)] = { body: 'from the last one' }
    expect((await get(registry)).body).toBe('from the slow one')
    // The fourth is asked only when none of the three before has it.
    expect([...server.lines].sort()).toEqual(
      [`GET ${slow}`, `HEAD ${fast}`, `HEAD ${none}`, `HEAD ${slow}`].sort(),
    )
  })

  test('one beyond the first three is asked when those have nothing', async () => {
    const registry = await newRegistry({}, {}, {}, {}, {})
    const [, , , fourth, fifth] = registry.all.map((one) => `${one.folder}/${JAR}`)
    server.files[String(fifth)] = { body: 'from the fifth' }
    expect((await get(registry)).body).toBe('from the fifth')
    expect(server.lines).toContain(`HEAD ${fourth}`)
  })

  test.each([
    ['refuses', { status: 403 }],
    ['asks to sign in', { status: 401 }],
    ['is broken', { status: 500 }],
    ['breaks off', { answer: (_: unknown, response: { destroy(): void }) => response.destroy() }],
    [
      'has a page for people',
      { body: '<html>Sign in</html>', headers: { 'Content-Type': 'text/html; charset=utf-8' } },
    ],
  ])('one that %s leaves it to the next', async (_what, prepared) => {
    const registry = await newRegistry({}, {})
    const [bad, good] = registry.all
    server.files[`${bad?.folder}/${JAR}`] = prepared
    server.files[`${good?.folder}/${JAR}`] = { body: 'good' }
    expect(await get(registry)).toMatchObject({ status: 200, body: 'good' })
  })

  test('a file that a later one has sent is served before an earlier one is asked', async () => {
    const registry = await newRegistry({}, {})
    const [first, second] = registry.all
    server.files[`${second?.folder}/${JAR}`] = { body: 'kept' }
    expect((await get(registry)).body).toBe('kept')
    await kept({ id: second?.id ?? 0 })
    server.files[`${first?.folder}/${JAR}`] = { body: 'newer' }
    server.asked = []
    expect((await get(registry)).body).toBe('kept')
    expect(server.lines).toEqual([])
    expect((await ana.delete(`${ROOT}/upstreams/${second?.id}/cache`)).status).toBe(204)
    expect((await get(registry)).body).toBe('newer')
  })

  test('one in two registries is asked once for both, and taken from one alone', async () => {
    const one = await newRegistry({})
    const two = await newRegistry({})
    server.files[`${one.first.folder}/${JAR}`] = { body: 'shared' }
    const link = { registry_id: two.id, upstream_id: one.first.id }
    const linked = await ana.post(`${ROOT}/registry_upstreams`, link)
    expect([linked.status, linked.body.position]).toEqual([201, 2])
    await get(one)
    await kept(one.first)
    server.asked = []
    expect((await get(two)).body).toBe('shared')
    expect(server.lines).toEqual([])
    expect((await ana.delete(`${ROOT}/registries/${one.id}/cache`)).status).toBe(204)
    expect(await entriesOf(one.first)).toHaveLength(1)
    expect((await ana.delete(`${ROOT}/registry_upstreams/${one.first.link}`)).status).toBe(204)
    expect((await get(one)).status).toBe(400)
    expect((await get(two)).body).toBe('shared')
    expect((await ana.delete(`${ROOT}/upstreams/${one.first.id}`)).status).toBe(204)
    expect((await get(two)).status).toBe(404)
    expect((await ana.get(`${ROOT}/registries/${two.id}`)).body.registry_upstreams).toHaveLength(1)
  })
})

describe('what is kept', () => {
  async function keptOne(more: object, path = JAR, headers = {}) {
    const registry = await newRegistry(more)
    const at = `${registry.first.folder}/${path}`
    server.files[at] = { body: 'old', headers }
    await get(registry, path)
    await kept(registry.first, path)
    server.asked = []
    return { registry, at }
  }

  test('is fresh for its hours, and asked about after them', async () => {
    const { registry, at } = await keptOne({ cache_validity_hours: 2 })
    world.setNow('2026-05-04T11:59:59.999Z')
    expect((await get(registry)).body).toBe('old')
    expect(server.lines).toEqual([])
    world.setNow('2026-05-04T12:00:00.000Z')
    expect((await get(registry)).body).toBe('old')
    expect(server.lines).toEqual([`HEAD ${at}`])
    expect((await entriesOf(registry.first))[0].upstream_checked_at).toBe(
      '2026-05-04T12:00:00.000Z',
    )
    world.setNow('2026-05-04T13:59:00.000Z')
    await get(registry)
    expect(server.lines).toHaveLength(1)
  })

  test('for no hours is never asked about', async () => {
    const { registry } = await keptOne({ cache_validity_hours: 0 })
    world.setNow('2036-05-04T10:00:00.000Z')
    expect((await get(registry)).body).toBe('old')
    expect(server.lines).toEqual([])
  })

  test('as a list of versions has hours of its own', async () => {
    const list = 'org/x/tool/maven-metadata.xml'
    const more = { cache_validity_hours: 0, metadata_cache_validity_hours: 1 }
    const { registry, at } = await keptOne(more, list, { 'Content-Type': 'text/xml' })
    server.files[at] = { body: 'new', headers: { ETag: '"2"' } }
    world.setNow('2026-05-04T10:59:00.000Z')
    expect((await get(registry, list)).body).toBe('old')
    world.setNow('2026-05-04T11:00:00.000Z')
    expect((await get(registry, list)).body).toBe('new')
    expect((await entriesOf(registry.first))[0]).toMatchObject({ upstream_etag: '"2"', size: 3 })
    expect((await get(registry, `${list}.sha1`)).body).toBe(sha1('new'))
  })

  test.each([
    ['has no tag any more', null, null],
    ['never had a tag', null, null],
    ['has another tag', '"1"', '"2"'],
  ])('from an upstream that %s is fetched again', async (_what, before, after) => {
    const { registry, at } = await keptOne({ cache_validity_hours: 1 }, JAR, { ETag: before })
    server.files[at] = { body: 'new', headers: { ETag: after } }
    world.setNow('2026-05-05T10:00:00.000Z')
    expect((await get(registry)).body).toBe('new')
    expect(server.lines).toEqual([`HEAD ${at}`, `GET ${at}`])
  })

  test.each([
    ['is gone', { status: 404 }],
    ['is broken', { status: 503 }],
    ['asks to sign in', { status: 401 }],
    ['has a page for people', { body: '<p>', headers: { 'Content-Type': 'text/html' } }],
    ['breaks off', { answer: (_: unknown, response: { destroy(): void }) => response.destroy() }],
  ])('is served while its upstream %s, and asked about again', async (_what, prepared) => {
    const { registry, at } = await keptOne({ cache_validity_hours: 1 })
    world.setNow('2026-05-05T10:00:00.000Z')
    server.files[at] = prepared
    expect(await get(registry)).toMatchObject({ status: 200, body: 'old' })
    server.files[at] = { body: 'new', headers: { ETag: '"2"' } }
    expect((await get(registry)).body).toBe('new')
  })

  test('is served when the new one breaks off, or is not what it says', async () => {
    const { registry, at } = await keptOne({ cache_validity_hours: 1 })
    world.setNow('2026-05-05T10:00:00.000Z')
    server.files[at] = {
      answer: (request, response) => {
        response.writeHead(200, { 'Content-Length': 100, ETag: '"2"' })
        if (request.method === 'HEAD') response.end()
        else response.write('half', () => response.destroy())
      },
    }
    expect((await get(registry)).body).toBe('old')
    server.files[at] = { body: 'evil', headers: { ETag: '"2"', 'X-Checksum-Sha1': sha1('good') } }
    expect((await get(registry)).body).toBe('old')
    expect(await entriesOf(registry.first)).toMatchObject([{ size: 3, upstream_etag: '"1"' }])
  })

  test('and stale is fetched once for all who ask', async () => {
    const { registry, at } = await keptOne({ cache_validity_hours: 1 })
    world.setNow('2026-05-05T10:00:00.000Z')
    server.files[at] = {
      answer: (request, response) => {
        response.writeHead(200, { 'Content-Length': 3, ETag: '"2"' })
        if (request.method === 'HEAD') response.end()
        else setTimeout(() => response.end('new'), 100)
      },
    }
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(registry)))
    expect(answers.map((one) => one.body)).toEqual(Array(20).fill('new'))
    expect(server.lines.filter((line) => line.startsWith('GET'))).toHaveLength(1)
  })

  test('whose bytes are lost is fetched again', async () => {
    const { registry } = await keptOne({})
    const { rmSync } = await import('node:fs')
    const hash = createHash('sha256').update('old').digest('hex')
    rmSync(world.ctx.files.pathOf(hash))
    expect((await get(registry)).body).toBe('old')
    expect(server.lines.some((line) => line.startsWith('GET'))).toBe(true)
  })
})

describe('an upstream that lies', () => {
  test.each([
    ['SHA-1', { 'X-Checksum-Sha1': sha1('the jar') }],
    ['MD5', { 'X-Checksum-MD5': md5('the jar') }],
  ])(
    'about the %s of what it sends is not believed, and nothing is kept',
    async (_what, headers) => {
      const registry = await newRegistry({})
      const at = `${registry.first.folder}/${JAR}`
      server.files[at] = { body: 'evil jar', headers }
      expect((await get(registry)).status).toBe(502)
      expect(await entriesOf(registry.first)).toEqual([])
      server.files[at] = { body: 'the jar', headers }
      expect((await get(registry)).body).toBe('the jar')
      await kept(registry.first)
    },
  )

  test('in a hash that is none is taken at the bytes it sends', async () => {
    const registry = await newRegistry({})
    const headers = { 'X-Checksum-Sha1': 'none', 'X-Checksum-Md5': md5('the jar').toUpperCase() }
    server.files[`${registry.first.folder}/${JAR}`] = { body: 'the jar', headers }
    expect((await get(registry)).body).toBe('the jar')
  })

  test('with a page for people instead of a file gives nothing', async () => {
    const registry = await newRegistry({})
    const at = `${registry.first.folder}/${JAR}`
    const page = { body: '<html>Sign in</html>', headers: { 'Content-Type': 'TEXT/HTML' } }
    server.files[at] = page
    const away = await get(registry)
    expect([away.status, away.body.message]).toEqual([
      400,
      '400 Bad request - Upstream not available',
    ])
    server.files[at] = {
      answer: (request, response) => {
        const isHead = request.method === 'HEAD'
        response.writeHead(200, {
          'Content-Type': isHead ? 'application/java-archive' : 'text/html',
        })
        response.end(isHead ? undefined : page.body)
      },
    }
    expect((await get(registry)).status).toBe(502)
    expect(await entriesOf(registry.first)).toEqual([])
    server.files[`${registry.first.folder}/site/index.html`] = page
    expect((await get(registry, 'site/index.html')).body).toBe(page.body)
  })

  test('in what it has: there by HEAD and gone by GET', async () => {
    const registry = await newRegistry({})
    server.files[`${registry.first.folder}/${JAR}`] = {
      answer: (request, response) =>
        response.writeHead(request.method === 'HEAD' ? 200 : 404).end(),
    }
    expect((await get(registry)).status).toBe(502)
  })
})

describe('credentials', () => {
  const secret = 'a-secret-of-the-upstream'
  const own = { username: 'robot', password: secret }

  test('stay with the server that they are for, wherever it sends on', async () => {
    const registry = await newRegistry(own)
    const at = `${registry.first.folder}/${JAR}`
    const redirect = (location: string) => ({ status: 302, headers: { Location: location } })
    server.files[at] = redirect(`${other.url}/elsewhere.jar`)
    other.files['elsewhere.jar'] = { body: 'from elsewhere' }
    expect((await get(registry)).body).toBe('from elsewhere')
    expect(server.asked.map((one) => one.headers.authorization)).toEqual(
      Array(2).fill(`Basic ${Buffer.from(`robot:${secret}`).toString('base64')}`),
    )
    expect(other.asked.map((one) => one.headers.authorization)).toEqual([undefined, undefined])
    const second = 'org/x/tool/2.0/tool-2.0.jar'
    server.files[`${registry.first.folder}/${second}`] = redirect(`/moved.jar`)
    server.files['moved.jar'] = { body: 'moved' }
    expect((await get(registry, second)).body).toBe('moved')
    expect(server.asked.at(-1)?.headers.authorization).toBeDefined()
  })

  test.each([
    'http://169.254.169.254/latest',
    'http://[::1]/x',
    'http://metadata.google.internal/x',
    'file:///etc/passwd',
    'gopher://127.0.0.1/x',
    'http://0x7f000002/x',
  ])('and requests do not follow to %s', async (location) => {
    const registry = await newRegistry(own)
    server.files[`${registry.first.folder}/${JAR}`] = {
      status: 302,
      headers: { Location: location },
    }
    expect((await get(registry)).status).toBe(400)
  })

  test('and requests do not go round in circles', async () => {
    const registry = await newRegistry(own)
    const at = `${registry.first.folder}/${JAR}`
    server.files[at] = { status: 302, headers: { Location: `/${at}` } }
    expect((await get(registry)).status).toBe(400)
    expect(server.lines.length).toBeLessThan(10)
  })

  test('are in no answer, in no message, and in no table', async () => {
    const registry = await newRegistry(own)
    server.files[`${registry.first.folder}/${JAR}`] = { status: 401 }
    const upstream = `${ROOT}/upstreams/${registry.first.id}`
    const answers = await Promise.all([
      ana.get(upstream),
      ana.get(`${ROOT}/registries/${registry.id}`),
      ana.get(`${ROOT}/registries/${registry.id}/upstreams`),
      ana.get(`/groups/${groupId}/-${ROOT}/upstreams`),
      ana.get(`${upstream}/test`),
      ana.post(`${upstream}/test`, { url: `${server.url}/none` }),
      ana.patch(upstream, { username: 'robot', password: '', name: 'renamed' }),
      ana.patch(upstream, { password: secret }),
      get(registry),
    ])
    const rows = await world.ctx.db.selectFrom('virtual_upstreams').selectAll().execute()
    const audits = await world.ctx.db.selectFrom('audit_events').selectAll().execute()
    const text = JSON.stringify([answers.map((one) => one.body), rows, audits])
    expect(text).toContain('robot')
    expect(text).not.toContain(secret)
    expect(text).not.toContain(Buffer.from(`robot:${secret}`).toString('base64'))
  })

  test('are sent again after everything but the address was changed', async () => {
    const registry = await newRegistry(own)
    const upstream = `${ROOT}/upstreams/${registry.first.id}`
    await ana.patch(upstream, { name: 'other', cache_validity_hours: 1, description: 'x' })
    await get(registry)
    expect(server.asked.at(-1)?.headers.authorization).toBeDefined()
    await ana.patch(upstream, { username: '', password: '' })
    expect((await ana.get(upstream)).body.username).toBeNull()
    await get(registry, 'org/x/other.jar')
    expect(server.asked.at(-1)?.headers.authorization).toBeUndefined()
  })

  test('that are empty are none, and those in an address are refused', async () => {
    const registry = await newRegistry({ username: '', password: '' })
    expect((await ana.get(`${ROOT}/upstreams/${registry.first.id}`)).body.username).toBeNull()
    await get(registry)
    expect(server.asked.at(-1)?.headers.authorization).toBeUndefined()
    const port = new URL(server.url).port
    for (const user of ['robot:secret@', ':secret@', 'robot@']) {
      const url = `http://${user}127.0.0.1:${port}/x`
      const refused = await ana.post(`${ROOT}/registries/${registry.id}/upstreams`, { url })
      expect([refused.status, refused.body]).toEqual([400, { message: { url: ['is invalid'] } }])
    }
  })
})

describe('a trial', () => {
  test('asks for a file that is kept, else for one that need not be there', async () => {
    const registry = await newRegistry({})
    const upstream = `${ROOT}/upstreams/${registry.first.id}`
    const { folder } = registry.first
    expect((await ana.get(`${upstream}/test`)).body).toEqual({ success: true })
    expect(server.lines).toEqual([`HEAD ${folder}/com/company/app/maven-metadata.xml`])
    server.files[`${folder}/${JAR}`] = { body: 'the jar' }
    await get(registry)
    await kept(registry.first)
    server.asked = []
    expect((await ana.get(`${upstream}/test`)).body).toEqual({ success: true })
    expect(server.lines).toEqual([`HEAD ${folder}/${JAR}`])
  })

  test.each([
    [403, 'Error: 403 - Forbidden'],
    [500, 'Error: 500 - Internal Server Error'],
    [418, 'Error: 418 - Refused'],
  ])('that is answered with %d says so', async (status, result) => {
    const path = `m/com/company/app/maven-metadata.xml`
    server.files[path] = { status }
    const tried = await ana.post(`/groups/${groupId}/-${ROOT}/upstreams/test`, {
      url: `${server.url}/m`,
    })
    expect([tried.status, tried.body]).toEqual([200, { success: false, result }])
  })

  test('goes with the credentials of the upstream to its own address alone', async () => {
    const registry = await newRegistry({ username: 'robot', password: 'secret' })
    const path = `${ROOT}/upstreams/${registry.first.id}/test`
    const sent = async (body: object) => {
      server.asked = []
      other.asked = []
      expect((await ana.post(path, body)).status).toBe(200)
      const [one] = [...server.asked, ...other.asked]
      const [, pair = ''] = String(one?.headers.authorization ?? '').split(' ')
      return Buffer.from(pair, 'base64').toString()
    }
    expect(await sent({})).toBe('robot:secret')
    expect(await sent({ url: `${server.url}/${registry.first.folder}` })).toBe('robot:secret')
    expect(await sent({ url: `${other.url}/x` })).toBe('')
    expect(await sent({ username: 'a', password: 'b' })).toBe('a:b')
    expect(await sent({ url: `${other.url}/x`, username: 'a', password: 'b' })).toBe('a:b')
  })

  test('of a private address, or with half of the credentials, is refused', async () => {
    const path = `/groups/${groupId}/-${ROOT}/upstreams/test`
    for (const url of [
      'http://10.0.0.1',
      'http://printer.local/x',
      'ftp://example.com',
      'x',
      'http://169.254.169.254',
      'http://[::ffff:10.0.0.1]/',
      'http://2130706434/',
      'http://0177.0.0.2/',
    ]) {
      expect([url, (await ana.post(path, { url })).status]).toEqual([url, 400])
    }
    expect((await ana.post(path, { url: server.url, username: 'a' })).status).toBe(400)
    expect((await ana.post(path, { url: server.url, password: 'a' })).status).toBe(400)
    expect((await ana.post(path, {})).status).toBe(400)
    expect(server.asked).toEqual([])
  })
})
