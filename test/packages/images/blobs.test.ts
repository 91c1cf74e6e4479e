import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { headOf, RawClient } from '../../support/raw-request.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, digestOf } from '../container-registry/push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
const NAME = 'acme/p/app'
const EMPTY = digestOf('')

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  await createProject(ana, 'p', { namespace_id: groupId })
})

const v2 = (method: string, path: string, raw?: string, headers = {}, who = ana) =>
  askRegistry(world, who, method, path, raw, headers)
const codeOf = (answer: Reply) => [answer.status, answer.body.errors[0].code]

/** Where an answer says that an upload goes on, below `/v2`. */
function placeIn(answer: Reply): string {
  const { pathname } = new URL(answer.headers.get('location') ?? '')
  return pathname.replace(/^\/v2\//, '')
}

async function begin(name = NAME): Promise<string> {
  const answer = await v2('POST', `${name}/blobs/uploads/`, '')
  expect(answer.status).toBe(202)
  return placeIn(answer)
}

async function push(content: string, name = NAME): Promise<string> {
  const digest = digestOf(content)
  const answer = await v2('POST', `${name}/blobs/uploads/?digest=${digest}`, content)
  expect(answer.status).toBe(201)
  return digest
}

const piece = (at: string, from: number, text: string) =>
  v2('PATCH', at, text, { 'Content-Range': `${from}-${from + text.length - 1}` })
const reached = async (at: string) => (await v2('GET', at)).headers.get('range')

describe('an upload', () => {
  test('begins with an address, an id, and nothing of it here', async () => {
    const answer = await v2('POST', `${NAME}/blobs/uploads/`, '')
    const id = answer.headers.get('docker-upload-uuid')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.headers.get('location')).toBe(
      `${world.ctx.config.externalUrl}/v2/${NAME}/blobs/uploads/${id}`,
    )
    expect([answer.status, answer.headers.get('range'), answer.body]).toEqual([202, '0-0', ''])
    expect((await v2('POST', `${NAME}/blobs/uploads`, '')).status).toBe(202)
  })

  test('goes on with pieces that say where they belong, and with those that do not', async () => {
    const at = await begin()
    expect((await piece(at, 0, 'one ')).status).toBe(202)
    const streamed = await v2('PATCH', at, 'two ')
    expect([streamed.status, streamed.headers.get('range')]).toEqual([202, '0-7'])
    const asDownload = { 'Content-Range': 'bytes 8-12/13' }
    expect((await v2('PATCH', at, 'three', asDownload)).headers.get('range')).toBe('0-12')
    const said = await v2('GET', at)
    expect([said.status, said.headers.get('range'), placeIn(said)]).toEqual([204, '0-12', at])
    const digest = digestOf('one two three')
    const done = await v2('PUT', `${at}?digest=${digest}`)
    expect([done.status, done.headers.get('docker-content-digest')]).toEqual([201, digest])
    expect(done.headers.get('location')).toBe(
      `${world.ctx.config.externalUrl}/v2/${NAME}/blobs/${digest}`,
    )
    expect((await v2('GET', `${NAME}/blobs/${digest}`)).body).toBe('one two three')
  })

  test.each([
    ['leaves a gap', '9-13', 416, 'BLOB_UPLOAD_INVALID'],
    ['comes once more', '0-3', 416, 'BLOB_UPLOAD_INVALID'],
    ['is not as long as it says', '4-12', 400, 'SIZE_INVALID'],
    ['ends before it begins', '4-2', 400, 'SIZE_INVALID'],
    ['says no place', 'all of it', 400, 'BLOB_UPLOAD_INVALID'],
    ['says a place without an end', '4-', 400, 'BLOB_UPLOAD_INVALID'],
  ])('refuses a piece that %s, and goes on where it was', async (_what, range, status, code) => {
    const at = await begin()
    await piece(at, 0, 'one ')
    const refused = await v2('PATCH', at, 'three', { 'Content-Range': range })
    expect(codeOf(refused)).toEqual([status, code])
    if (status === 416) expect(refused.headers.get('range')).toBe('0-3')
    expect(await reached(at)).toBe('0-3')
    expect((await piece(at, 4, 'two')).status).toBe(202)
    expect((await v2('PUT', `${at}?digest=${digestOf('one two')}`)).status).toBe(201)
  })

  test('ends with a last piece in the same request, or all at once', async () => {
    const digest = digestOf('first and last')
    const at = await begin()
    await v2('PATCH', at, 'first ')
    const last = await v2('PUT', `${at}?digest=${digest}`, 'and last', { 'Content-Range': '6-13' })
    expect(last.status).toBe(201)
    const whole = await begin()
    const put = await v2('PUT', `${whole}?digest=${digestOf('whole')}`, 'whole')
    expect([put.status, (await v2('GET', whole)).status]).toEqual([201, 404])
  })

  test('of nothing is a blob of nothing', async () => {
    const at = await begin()
    expect((await v2('PUT', `${at}?digest=${EMPTY}`)).status).toBe(201)
    const got = await v2('GET', `${NAME}/blobs/${EMPTY}`)
    expect([got.status, got.body, got.headers.get('content-length')]).toEqual([200, '', '0'])
    const head = await v2('HEAD', `${NAME}/blobs/${EMPTY}`)
    expect([head.status, head.headers.get('docker-content-digest')]).toEqual([200, EMPTY])
  })

  test.each([
    ['missing', ''],
    ['empty', '?digest='],
    ['of another algorithm', `?digest=sha512:${'a'.repeat(128)}`],
    ['in capitals', `?digest=${EMPTY.toUpperCase().replace('SHA', 'sha')}`.replace('e3', 'E3')],
    ['too short', '?digest=sha256:abc'],
    ['a path', '?digest=sha256:..%2f..%2fetc'],
    ['of other bytes', `?digest=${digestOf('other')}`],
  ])('cannot end with a digest that is %s', async (_what, query) => {
    const at = await begin()
    await v2('PATCH', at, 'content')
    expect(codeOf(await v2('PUT', at + query))).toEqual([400, 'DIGEST_INVALID'])
    expect((await v2('PUT', `${at}?digest=${digestOf('content')}`)).status).toBe(201)
  })

  test('all at once with a wrong digest leaves nothing, and nothing that counts', async () => {
    const refused = await v2(
      'POST',
      `acme/p/atonce/blobs/uploads/?digest=${digestOf('other')}`,
      'content',
    )
    expect(codeOf(refused)).toEqual([400, 'DIGEST_INVALID'])
    const uploads = await world.ctx.db
      .selectFrom('container_uploads')
      .innerJoin('container_repositories as r', 'r.id', 'container_uploads.repository_id')
      .select('container_uploads.id')
      .where('r.name', '=', 'atonce')
      .execute()
    expect(uploads).toEqual([])
    for (const content of ['content', 'other']) {
      const blob = await v2('GET', `acme/p/atonce/blobs/${digestOf(content)}`)
      expect(codeOf(blob)).toEqual([404, 'BLOB_UNKNOWN'])
    }
  })

  test('is known in its own repository alone', async () => {
    const at = await begin()
    await push('something', 'acme/p/other')
    await createProject(ana, 'q', { namespace_id: groupId })
    await push('something', 'acme/q/app')
    for (const name of ['acme/p/other', 'acme/q/app', 'acme/p', 'acme/p/never']) {
      const elsewhere = at.replace(NAME, name)
      for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
        const path = method === 'PUT' ? `${elsewhere}?digest=${EMPTY}` : elsewhere
        const raw = method === 'GET' || method === 'DELETE' ? undefined : 'x'
        expect([name, method, ...codeOf(await v2(method, path, raw))]).toEqual([
          name,
          method,
          404,
          'BLOB_UPLOAD_UNKNOWN',
        ])
      }
    }
    expect(await reached(at)).toBe('0-0')
  })

  test.each(['none', '%2e%2e%2fx', 'a'.repeat(64), '00000000-0000-4000-8000-000000000000'])(
    'of the id %s is unknown',
    async (id) => {
      const answer = await v2('GET', `${NAME}/blobs/uploads/${id}`)
      expect(answer.status).toBe(404)
      expect(answer.body.errors[0].code).toMatch(/^(BLOB_UPLOAD_UNKNOWN|NAME_UNKNOWN)$/)
    },
  )

  test('is given up once', async () => {
    const at = await begin()
    await v2('PATCH', at, 'some')
    expect((await v2('DELETE', at)).status).toBe(204)
    for (const [method, path, raw] of [
      ['DELETE', at, undefined],
      ['GET', at, undefined],
      ['PATCH', at, 'more'],
      ['PUT', `${at}?digest=${digestOf('some')}`, ''],
    ] as const) {
      expect(codeOf(await v2(method, path, raw))).toEqual([404, 'BLOB_UPLOAD_UNKNOWN'])
    }
  })

  test('whose connection breaks goes on from its last whole piece', async () => {
    const at = await begin()
    await v2('PATCH', at, 'whole ')
    const pair = Buffer.from(`any:${ana.token}`).toString('base64')
    const client = await RawClient.open(world.url)
    client.write(
      headOf(`PATCH /v2/${at}`, { Authorization: `Basic ${pair}`, 'Content-Length': 100 }),
    )
    client.write('half of a pie')
    client.socket.end()
    await client.whole()
    expect(await reached(at)).toBe('0-5')
    await v2('PATCH', at, 'piece')
    expect((await v2('PUT', `${at}?digest=${digestOf('whole piece')}`)).status).toBe(201)
  })

  test('takes one of two pieces for the same place', async () => {
    const at = await begin()
    const sent = await Promise.all(
      Array.from({ length: 8 }, (_, index) => piece(at, 0, `piece ${index}`)),
    )
    expect(sent.map((one) => one.status).sort()).toEqual([202, ...Array(7).fill(416)])
    expect(await reached(at)).toBe('0-6')
    const won = sent.findIndex((one) => one.status === 202)
    expect((await v2('PUT', `${at}?digest=${digestOf(`piece ${won}`)}`)).status).toBe(201)
  })

  test('ends once, however often it is ended at once', async () => {
    const digest = digestOf('the end')
    const at = await begin()
    await v2('PATCH', at, 'the end')
    const ends = await Promise.all(
      Array.from({ length: 6 }, () => v2('PUT', `${at}?digest=${digest}`)),
    )
    expect(ends.map((one) => one.status).sort()).toEqual([201, ...Array(5).fill(404)])
    expect((await v2('GET', `${NAME}/blobs/${digest}`)).body).toBe('the end')
  })

  test('of one blob by many at once is one blob', async () => {
    const content = 'pushed by many'
    const digest = digestOf(content)
    const sent = await Promise.all(
      Array.from({ length: 10 }, () =>
        v2('POST', `acme/p/many/blobs/uploads/?digest=${digest}`, content),
      ),
    )
    expect(sent.map((one) => one.status)).toEqual(Array(10).fill(201))
    expect((await v2('GET', `acme/p/many/blobs/${digest}`)).body).toBe(content)
  })

  test('that nobody finished is forgotten after a day, and no younger one', async () => {
    const old = await begin()
    await v2('PATCH', old, 'old')
    world.setNow('2026-05-05T09:00:00.000Z')
    const young = await begin()
    world.setNow('2026-05-05T10:30:00.000Z')
    await world.runTasks()
    expect([(await v2('GET', old)).status, (await v2('GET', young)).status]).toEqual([404, 204])
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})

describe('a blob', () => {
  test('is described by its size and digest before it is fetched', async () => {
    const digest = await push('0123456789')
    const head = await v2('HEAD', `${NAME}/blobs/${digest}`)
    expect(head.status).toBe(200)
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'content-length': '10',
      'content-type': 'application/octet-stream',
      'docker-content-digest': digest,
      'accept-ranges': 'bytes',
      etag: `"${digest}"`,
    })
    const known = await v2('GET', `${NAME}/blobs/${digest}`, undefined, {
      'If-None-Match': `"${digest}"`,
    })
    expect([known.status, known.body]).toEqual([304, ''])
  })

  test.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, null, 'bytes */10'],
    ['lines=1-2', 200, '0123456789', null],
  ] as const)('answers the range %s with %d', async (range, status, body, said) => {
    const digest = await push('0123456789')
    const got = await v2('GET', `${NAME}/blobs/${digest}`, undefined, { Range: range })
    expect([got.status, got.headers.get('content-range')]).toEqual([status, said])
    if (body !== null) expect(String(got.body)).toBe(body)
  })

  test('that is not there is unknown, and a digest that is none is refused', async () => {
    const missing = digestOf('never pushed')
    expect(codeOf(await v2('GET', `${NAME}/blobs/${missing}`))).toEqual([404, 'BLOB_UNKNOWN'])
    expect((await v2('HEAD', `${NAME}/blobs/${missing}`)).status).toBe(404)
    expect(codeOf(await v2('DELETE', `${NAME}/blobs/${missing}`))).toEqual([404, 'BLOB_UNKNOWN'])
    for (const digest of ['md5:abc', 'sha256:xyz', 'latest', `sha256:${'A'.repeat(64)}`]) {
      expect(codeOf(await v2('GET', `${NAME}/blobs/${digest}`))).toEqual([400, 'DIGEST_INVALID'])
    }
    expect(codeOf(await v2('GET', `acme/p/unheard/blobs/${missing}`))).toEqual([
      404,
      'NAME_UNKNOWN',
    ])
  })

  test('of one repository is not read through another', async () => {
    const digest = await push('only in app')
    await push('something', 'acme/p/beside')
    expect(codeOf(await v2('GET', `acme/p/beside/blobs/${digest}`))).toEqual([404, 'BLOB_UNKNOWN'])
    const bob = await world.user('bob')
    await createProject(bob, 'own')
    await v2('POST', `bob/own/blobs/uploads/?digest=${EMPTY}`, '', {}, bob)
    // Knowing the digest of somebody's bytes is not having them.
    expect((await v2('GET', `bob/own/blobs/${digest}`, undefined, {}, bob)).status).toBe(404)
  })

  test('is taken over from a repository that its caller reads, with all that a push answers', async () => {
    const digest = await push('base layer')
    const path = `acme/p/mounted/blobs/uploads/?mount=${digest}&from=${NAME}`
    const mounted = await v2('POST', path, '')
    expect([mounted.status, mounted.headers.get('docker-content-digest')]).toEqual([201, digest])
    expect(mounted.headers.get('location')).toBe(
      `${world.ctx.config.externalUrl}/v2/acme/p/mounted/blobs/${digest}`,
    )
    expect((await v2('POST', path, '')).status).toBe(201)
    expect((await v2('DELETE', `${NAME}/blobs/${digest}`)).status).toBe(202)
    expect((await v2('GET', `acme/p/mounted/blobs/${digest}`)).body).toBe('base layer')
  })

  test.each([
    ['of which nobody says where it is', () => `mount=${digestOf('unmounted')}`],
    ['that is not there', () => `mount=${digestOf('unmounted')}&from=${NAME}`],
    ['of a project that is not there', () => `mount=${digestOf('unmounted')}&from=no/such/app`],
    ['of a name that is none', () => `mount=${digestOf('unmounted')}&from=../../etc`],
  ])('%s is to be uploaded instead', async (_what, query) => {
    const answer = await v2('POST', `acme/p/mounting/blobs/uploads/?${query()}`, '')
    expect([answer.status, answer.headers.get('range')]).toEqual([202, '0-0'])
    expect(
      (await v2('PUT', `${placeIn(answer)}?digest=${digestOf('bytes')}`, 'bytes')).status,
    ).toBe(201)
  })

  test('is mounted by its digest alone, and where the caller may push', async () => {
    const digest = await push('to mount')
    const wrong = await v2('POST', `acme/p/m/blobs/uploads/?mount=latest&from=${NAME}`, '')
    expect(codeOf(wrong)).toEqual([400, 'DIGEST_INVALID'])
    const reader = await world.user('reader')
    await ana.post(`/groups/${groupId}/members`, { user_id: reader.id, access_level: 20 })
    const denied = await v2(
      'POST',
      `acme/p/m/blobs/uploads/?mount=${digest}&from=${NAME}`,
      '',
      {},
      reader,
    )
    expect(codeOf(denied)).toEqual([403, 'DENIED'])
    await createProject(reader, 'own')
    const own = await v2(
      'POST',
      `reader/own/blobs/uploads/?mount=${digest}&from=${NAME}`,
      '',
      {},
      reader,
    )
    expect(own.status).toBe(201)
    await ana.delete(`/groups/${groupId}/members/${reader.id}`)
    const later = digestOf('pushed after they left')
    await push('pushed after they left')
    const gone = await v2(
      'POST',
      `reader/own/blobs/uploads/?mount=${later}&from=${NAME}`,
      '',
      {},
      reader,
    )
    expect(gone.status).toBe(202)
  })

  test('whose bytes are lost is asked for again by a push, and a pull is answered with the loss', async () => {
    const digest = await push('soon lost', 'acme/p/lost')
    const { rmSync } = await import('node:fs')
    rmSync(world.ctx.files.pathOf(digest.slice(7)))
    expect((await v2('HEAD', `acme/p/lost/blobs/${digest}`)).status).toBe(404)
    const pulled = await v2('GET', `acme/p/lost/blobs/${digest}`)
    expect([pulled.status, JSON.stringify(pulled.body)]).toEqual([
      500,
      expect.stringContaining('The file is damaged'),
    ])
    await push('soon lost', 'acme/p/lost')
    expect((await v2('GET', `acme/p/lost/blobs/${digest}`)).body).toBe('soon lost')
  })
})

describe('the name of a repository', () => {
  test.each([
    'acme/p',
    'acme/p/a',
    'acme/p/a.b_c__d-e--f',
    'acme/p/1/2/3',
    'acme/p/blobs',
    'acme/p/manifests',
    'acme/p/tags/list',
    'acme/p/uploads',
    'acme/p/referrers',
    `acme/p/${'a'.repeat(128)}`,
  ])('%s is one', async (name) => {
    const digest = await push('bytes', name)
    expect((await v2('GET', `${name}/blobs/${digest}`)).body).toBe('bytes')
    const at = await begin(name)
    await v2('PATCH', at, 'more')
    expect((await v2('PUT', `${at}?digest=${digestOf('more')}`)).status).toBe(201)
  })

  test.each([
    'acme',
    'acme/p/App',
    'acme/p/a___b',
    'acme/p/-a',
    'acme/p/a.',
    'acme/p/a..b',
    'acme/p/a%20b',
    'acme/p/%2e%2e%2fq',
    'acme/p/ä',
    `acme/p/${'a/'.repeat(130)}a`,
    `acme/p/${'a'.repeat(129)}`,
    '__proto__/p/a',
  ])('%s is none', async (name) => {
    const answer = await v2('POST', `${name}/blobs/uploads/`, '')
    expect(answer.status).toBe(404)
    expect(answer.body.errors[0].code).toBe('NAME_UNKNOWN')
  })
})
