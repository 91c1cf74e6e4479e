import { setTimeout } from 'node:timers/promises'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { createProject } from '../support/create.ts'
import { openWorld, useCaller, useWorld } from '../support/world.ts'
import {
  exampleEvent,
  exampleException,
  inEnvelope,
  type Reported,
  reportedProject,
} from './errors.ts'

const world = useWorld({ errorEventsPerMinute: 0 }, { background: false })
const ana = useCaller(world, 'ana')

let count = 0
const project = () => {
  count += 1
  return reportedProject(world, ana, `reported-${count}`)
}
/** The errors of a project when all that was reported is counted. */
const errorsOf = async (one: Reported, query = '') => {
  await world.runTasks()
  return (await ana.get(`${one.api}/error_tracking/errors${query}`)).body
}
const auth = (one: Reported) => ({ 'X-Sentry-Auth': `Sentry sentry_key=${one.key}` })
const send = (
  one: Reported,
  body: string | Uint8Array<ArrayBuffer>,
  headers = auth(one) as Record<string, string>,
) => fetch(one.envelope, { method: 'POST', headers, body })
const packed = (bytes: Buffer) => new Uint8Array(bytes)

describe('events', () => {
  test('are grouped by name, actor and platform, with the newest words', async () => {
    const one = await project()
    const id = 'a'.repeat(32)
    const reply = await one.report(exampleEvent({ event_id: id, user: { id: 1 } }))
    expect([reply.status, await reply.json()]).toEqual([200, { id }])
    await one.report(
      exampleEvent({
        exception: [exampleException({ value: 'division by nought' })],
        user: { id: 2 },
        release: 'app@1.2',
      }),
    )
    await one.report(exampleEvent({ user: { id: 2 } }))
    await one.report(exampleEvent({ platform: 'node' }))
    await one.report(exampleEvent({ transaction: '/pay' }))
    const errors = await errorsOf(one, '?sort=frequency')
    expect(errors).toHaveLength(3)
    expect(errors[0]).toMatchObject({
      title: 'ZeroDivisionError: division by zero',
      culprit: 'divide(app)',
      count: 3,
      user_count: 2,
      status: 'unresolved',
    })
    expect(errors[0].frequency).toEqual([[expect.any(Number), 3]])
    const detail = (await ana.get(`${one.api}/error_tracking/errors/${errors[0].id}`)).body
    expect(detail).toMatchObject({
      first_release_version: 'app@1.2',
      last_release_version: 'app@1.2',
      tags: { level: 'error', logger: null },
    })
    expect(
      detail.places
        .map((place: { release: string; events: number }) => [place.release, place.events])
        .sort(),
    ).toEqual([
      ['', 2],
      ['app@1.2', 1],
    ])
  })

  test('of many errors that are counted together count as if they came one by one', async () => {
    const [single, together] = [await project(), await project()]
    const names = ['Plain', `It's "quoted"`, '7', 'näive 🎉', 'null', '[1]', 'a\\b']
    const events = Array.from({ length: 40 }, (_, n) =>
      exampleEvent({
        exception: [exampleException({ type: names[n % 7], value: `failed ${n}` })],
        timestamp: `2026-05-04T0${n % 9}:00:00Z`,
        level: n % 5 === 0 ? null : 'error',
        environment: n % 3 === 0 ? '' : `stage "${n % 3}"`,
        release: n % 4 === 0 ? undefined : `1.${n % 2}0`,
        user: n % 6 === 0 ? undefined : { id: n % 10 },
      }),
    )
    for (const event of events) {
      await single.report(event)
      await world.runTasks()
    }
    for (const event of events) await together.report(event)
    const storedErrors = async (one: Reported) => {
      const errors: { id: string }[] = await errorsOf(one, '?sort=first_seen&per_page=100')
      const paths = errors.map(({ id }) => `${one.api}/error_tracking/errors/${id}`)
      const bodies = paths.map(async (path) => ({
        error: (await ana.get(path)).body,
        events: (await ana.get(`${path}/events?per_page=100`)).body,
      }))
      const text = JSON.stringify(await Promise.all(bodies))
      const own = ['id', 'issue_id', 'project_id', 'external_url']
      return JSON.parse(text, (key, value) => (own.includes(key) ? undefined : value))
    }
    const seen = await storedErrors(together)
    expect(seen).toHaveLength(7)
    expect(seen).toEqual(await storedErrors(single))
    expect(seen[0].error.count).toBeGreaterThan(4)
  })

  test('beyond a hundred releases of one error are counted where they are known', async () => {
    const one = await project()
    const report = (n: number) => one.report(exampleEvent({ release: `app@${n}` }))
    for (let n = 0; n < 99; n += 1) await report(n)
    await errorsOf(one)
    for (const n of [5, 5, 200, 201]) await report(n)
    const [{ id, count }] = await errorsOf(one)
    expect(count).toBe(103)
    const { places } = (await ana.get(`${one.api}/error_tracking/errors/${id}`)).body
    expect(places).toHaveLength(99)
    const known = places.find((place: { release: string }) => place.release === 'app@5')
    expect(known.events).toBe(3)
  })

  test('that are only messages are kept as such', async () => {
    const one = await project()
    await one.report({ message: 'hello' })
    await one.report({ logentry: { message: 'user %s', formatted: 'user 1' } })
    await one.report({ logentry: { message: 'user %s', formatted: 'user 2' } })
    const errors = await errorsOf(one, '?sort=frequency')
    expect(
      errors.map((error: { message: string; count: number }) => [error.message, error.count]),
    ).toEqual([
      ['user 2', 2],
      ['hello', 1],
    ])
  })

  test('show their stack with the lines around', async () => {
    const one = await project()
    await one.report(exampleEvent())
    const [{ id }] = await errorsOf(one)
    const event = (await ana.get(`${one.api}/error_tracking/errors/${id}/events/latest`)).body
    expect(event.stack_trace_entries[1]).toMatchObject({
      lineNo: 3,
      colNo: 5,
      filename: 'src/app.py',
      abs_path: '/srv/app/src/app.py',
      function: 'divide',
      context: [
        [1, 'def divide(a, b):'],
        [2, '    # by nothing'],
        [3, '    return a / b'],
        [4, ''],
        [5, 'divide(1, 0)'],
      ],
    })
  })

  test('of one error are kept within bounds: the first, the last, and some between', async () => {
    const one = await project()
    for (let round = 0; round < 10; round += 1) {
      const some = Array.from({ length: 50 }, (_, n) =>
        one.report(exampleEvent({ exception: [exampleException({ value: `${round * 50 + n}` })] })),
      )
      await Promise.all(some)
    }
    const [error] = await errorsOf(one)
    expect(error.count).toBe(500)
    const path = `${one.api}/error_tracking/errors/${error.id}/events?per_page=100`
    const events = (await ana.get(path)).body
    expect(events.length).toBeGreaterThan(20)
    expect(events.length).toBeLessThanOrEqual(52)
    expect(events[0].message).toBe(error.message)
    const kept = world.ctx.db.selectFrom('error_events').select('number')
    const rows = await kept.where('error_id', '=', Number(error.id)).execute()
    expect(rows.some((row) => row.number === 500)).toBe(true)
    expect(rows.some((row) => row.number === 1)).toBe(true)
  })

  test('that came before an error was resolved do not reopen it', async () => {
    const one = await project()
    await one.report(exampleEvent())
    const [{ id }] = await errorsOf(one)
    const path = `${one.api}/error_tracking/errors/${id}`
    await one.report(exampleEvent())
    const late = async () => {
      // It is taken in while the change waits for its turn to write, and has its own turn after it.
      await setTimeout(50)
      return await one.report(exampleEvent())
    }
    await atOnce<unknown>(world, [() => ana.put(path, { status: 'resolved' }), late], async () =>
      world.setNow('2026-05-04T10:00:01.000Z'),
    )
    await ana.put(path, { issue_iid: null })
    await world.runTasks()
    expect((await ana.get(path)).body).toMatchObject({ status: 'resolved', count: 3 })
    world.setNow('2026-05-04T10:00:02.000Z')
    await one.report(exampleEvent())
    await world.runTasks()
    expect((await ana.get(path)).body).toMatchObject({ status: 'unresolved', count: 4 })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('reopen what was resolved, and leave alone what is ignored', async () => {
    const one = await project()
    await one.report(exampleEvent())
    const [{ id }] = await errorsOf(one)
    const path = `${one.api}/error_tracking/errors/${id}`
    await ana.put(path, { status: 'resolved' })
    expect(await errorsOf(one)).toEqual([])
    world.setNow('2026-05-04T10:00:01.000Z')
    await one.report(exampleEvent())
    await world.runTasks()
    expect((await ana.get(path)).body.status).toBe('unresolved')
    await ana.put(path, { status: 'ignored' })
    await one.report(exampleEvent())
    await world.runTasks()
    expect((await ana.get(path)).body).toMatchObject({ status: 'ignored', count: 3 })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('that are sent again under their id count once, also after they were counted', async () => {
    const one = await project()
    const event = exampleEvent()
    await Promise.all([one.report(event), one.report(event)])
    expect(await errorsOf(one)).toMatchObject([{ count: 1 }])
    expect(await (await one.report(event)).json()).toEqual({ id: event.event_id })
    await one.report(exampleEvent())
    expect(await errorsOf(one)).toMatchObject([{ count: 2 }])
  })

  test('without an id are each an event', async () => {
    const one = await project()
    for (let n = 0; n < 3; n += 1) await one.report({ message: 'the same' })
    expect(await errorsOf(one)).toMatchObject([{ count: 3 }])
  })

  test('and errors go when their time is over', async () => {
    const one = await project()
    world.setNow('2026-01-01T00:00:00.000Z')
    await one.report(exampleEvent())
    await world.runTasks()
    world.setNow('2026-05-05T10:00:00.000Z')
    await one.report(exampleEvent({ platform: 'node' }))
    await world.runTasks()
    expect(await errorsOf(one)).toMatchObject([{ count: 1 }])
  })
})

describe('envelopes', () => {
  test('may hold several items, of which events are kept and the rest is dropped', async () => {
    const one = await project()
    const event = JSON.stringify(exampleEvent())
    const body = [
      '{}',
      '{"type":"session"}',
      '{"sid":"x"}',
      JSON.stringify({ type: 'event', length: Buffer.byteLength(event) }),
      event,
      '{"type":"client_report"}',
      '{}',
      '{"type":"something_new","length":3}',
      'a\nb',
      '{"type":"event"}',
      JSON.stringify(exampleEvent({ platform: 'node' })),
    ].join('\n')
    expect((await send(one, body)).status).toBe(200)
    expect(await errorsOf(one)).toHaveLength(2)
  })

  test('of sessions and transactions alone are answered well', async () => {
    const one = await project()
    for (const type of ['session', 'sessions', 'transaction', 'client_report', 'check_in'])
      expect((await send(one, `{}\n{"type":"${type}"}\n{}\n`)).status).toBe(200)
    expect((await send(one, '{"event_id":"x"}\n')).status).toBe(200)
    expect(await errorsOf(one)).toEqual([])
  })

  test.each([
    ['no header', 'nonsense'],
    ['a header that is a list', '[]\n{"type":"event"}\n{}'],
    ['an item without a type', '{}\n{"length":2}\n{}'],
    ['a length that is too long', '{}\n{"type":"event","length":99}\n{}'],
    ['a length that is too short', '{}\n{"type":"event","length":1}\n{}\n'],
    ['a negative length', '{}\n{"type":"event","length":-1}\n{}'],
    ['a length that is a text', '{}\n{"type":"event","length":"2"}\n{}'],
    ['an event that is no JSON', '{}\n{"type":"event"}\nnonsense'],
    ['an event without anything', '{}\n{"type":"event"}\n{}'],
    ['an event with exceptions that are none', '{}\n{"type":"event"}\n{"exception":7}'],
    ['an event with an empty list', '{}\n{"type":"event"}\n{"exception":{"values":[]}}'],
    ['a type that is an object', '{}\n{"type":"event"}\n{"exception":[{"type":{}}]}'],
    [
      'a platform that is too long',
      `{}\n{"type":"event"}\n{"message":"a","platform":"${'x'.repeat(256)}"}`,
    ],
    ['a depth of 101', `{}\n{"type":"event"}\n${'{"a":'.repeat(101)}1${'}'.repeat(101)}`],
    ['more items than any program sends', `{}\n${'{"type":"session"}\n{}\n'.repeat(101)}`],
  ])('with %s are 400 and leave nothing', async (_, body) => {
    const one = await project()
    expect((await send(one, body)).status).toBe(400)
    expect(await errorsOf(one)).toEqual([])
  })

  test('of a storm are each answered as any other: what is none is 400, and the rest is counted', async () => {
    const one = await project()
    const bodies = Array.from({ length: 240 }, (_, n) => {
      const bad = ['nonsense', '{}', '{"exception":7}', `{"message":"a\xff"}`][(n / 10) % 4]
      if (n % 10 === 0) return Buffer.from(`{}\n{"type":"event"}\n${bad}`, 'latin1')
      const value = n % 10 === 1 ? 'x'.repeat(100_000) : `failed ${n}`
      return Buffer.from(
        inEnvelope(exampleEvent({ exception: { values: [exampleException({ value })] } })),
      )
    })
    const replies = await Promise.all(bodies.map((body) => send(one, packed(body))))
    const texts = await Promise.all(replies.map((reply) => reply.text()))
    for (const [n, { status }] of replies.entries())
      expect([n, status]).toEqual([n, n % 10 === 0 ? 400 : 200])
    expect(texts[10]).toContain('Unsupported sentry payload')
    expect(await errorsOf(one)).toMatchObject([{ count: 216 }])
  })

  test('that hold what is no UTF-8 are 400', async () => {
    const one = await project()
    const body = Buffer.from('{}\n{"type":"event"}\n{"message":"\xff"}', 'latin1')
    expect((await send(one, packed(body))).status).toBe(400)
  })
})

describe('packed bodies', () => {
  const zstdOf = (text: string) => {
    // One raw block in a single segment: what any decoder must take.
    const bytes = Buffer.from(text)
    const head = Buffer.alloc(9)
    head.writeUInt32LE(0xfd2fb528, 0)
    head.writeUInt8(0b10100000, 4)
    head.writeUInt32LE(bytes.length, 5)
    const block = Buffer.alloc(3)
    block.writeUIntLE((bytes.length << 3) | 1, 0, 3)
    return Buffer.concat([head, block, bytes])
  }

  test.each([
    ['gzip', (text: string) => gzipSync(text)],
    ['deflate', (text: string) => deflateSync(text)],
    ['br', (text: string) => brotliCompressSync(text)],
    ['zstd', zstdOf],
  ] as const)('come in by %s; cut short they are 400', async (encoding, pack) => {
    const one = await project()
    const bytes = pack(inEnvelope(exampleEvent()))
    const headers = { ...auth(one), 'Content-Encoding': encoding }
    expect((await send(one, packed(bytes), headers)).status).toBe(200)
    expect(await errorsOf(one)).toHaveLength(1)
    const cut = bytes.subarray(0, bytes.length - 20)
    expect((await send(one, packed(cut), headers)).status).toBe(400)
    expect((await errorsOf(one))[0].count).toBe(1)
  })

  test.each([
    ['gzip', (text: string) => gzipSync(text)],
    ['deflate', (text: string) => deflateSync(text)],
    ['br', (text: string) => brotliCompressSync(text)],
    ['zstd', zstdOf],
  ] as const)('may have the key inside, by %s', async (encoding, pack) => {
    const one = await project()
    const headers = { 'Content-Encoding': encoding }
    const bytes = pack(inEnvelope(exampleEvent(), { dsn: one.dsn }))
    expect((await send(one, packed(bytes), headers)).status).toBe(200)
    const none = pack(inEnvelope(exampleEvent()))
    expect((await send(one, packed(none), headers)).status).toBe(400)
    expect(await errorsOf(one)).toMatchObject([{ count: 1 }])
  })

  test('in an encoding that nobody knows are 415', async () => {
    const one = await project()
    const headers = { ...auth(one), 'Content-Encoding': 'lzma' }
    expect((await send(one, 'x', headers)).status).toBe(415)
  })

  test('that unpack to more than 20 MiB are refused, and cost little memory', async () => {
    const one = await project()
    const zeros = Buffer.alloc(64 * 1024 * 1024)
    const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
    const bombs = [
      ['gzip', gzipSync(zeros, { level: 1 })],
      ['br', brotliCompressSync(zeros, quick)],
    ] as const
    for (const [encoding, bytes] of bombs) {
      const before = process.memoryUsage.rss()
      const headers = { ...auth(one), 'Content-Encoding': encoding }
      expect((await send(one, packed(bytes), headers)).status).toBe(413)
      expect(process.memoryUsage.rss() - before).toBeLessThan(120 * 1024 * 1024)
    }
  }, 60_000)

  test('of zstd that ask for a great window, many blocks or many frames are 400', async () => {
    const one = await project()
    const headers = { ...auth(one), 'Content-Encoding': 'zstd' }
    const magic = Buffer.from('28b52ffd', 'hex')
    const window = Buffer.concat([magic, Buffer.from([0, 0xa8, 1, 0, 0])])
    const blocks = Buffer.concat([magic, Buffer.from([0x20, 0]), Buffer.alloc(3 * 600)])
    const frame = zstdOf('x')
    for (const bytes of [window, blocks, Buffer.concat([frame, frame]), Buffer.alloc(0), magic])
      expect((await send(one, packed(bytes), headers)).status).toBe(400)
  })
})

describe('who may report', () => {
  test('a key goes in the query, in either header, or in the DSN of the envelope', async () => {
    const one = await project()
    const post = (url: string, headers: Record<string, string>, body: string) =>
      fetch(url, { method: 'POST', headers, body })
    const body = () => inEnvelope(exampleEvent())
    const full = `Sentry sentry_version=7, sentry_client=a/1, sentry_key=${one.key}, sentry_secret=x`
    const replies = [
      await post(`${one.envelope}?sentry_key=${one.key}&sentry_version=7`, {}, body()),
      await post(one.envelope, { 'X-Sentry-Auth': full }, body()),
      await post(one.envelope, { Authorization: full }, body()),
      await post(one.envelope, {}, inEnvelope(exampleEvent(), { dsn: one.dsn })),
      await post(one.envelope.slice(0, -1), { 'X-Sentry-Auth': full }, body()),
      await post(one.store, { 'X-Sentry-Auth': full }, JSON.stringify(exampleEvent())),
      await post(
        one.store.slice(0, -1),
        { 'X-Sentry-Auth': full, 'Content-Type': 'application/json' },
        JSON.stringify(exampleEvent()),
      ),
    ]
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
    expect((await errorsOf(one))[0].count).toBe(7)
  })

  test('no key is 400; a wrong one, one of another project and one that was deleted are 404', async () => {
    const one = await project()
    const other = await project()
    const body = inEnvelope(exampleEvent())
    expect((await send(one, body, {})).status).toBe(400)
    expect((await send(one, body, { 'X-Sentry-Auth': 'Sentry sentry_key=svcet_0' })).status).toBe(
      404,
    )
    expect((await send(one, body, auth(other))).status).toBe(404)
    const nowhere = one.envelope.replace(`/${one.id}/`, '/999999/')
    expect((await fetch(nowhere, { method: 'POST', headers: auth(one), body })).status).toBe(404)
    await ana.patch(`${one.api}/error_tracking/settings`, { active: false })
    expect((await send(one, body)).status).toBe(404)
    await ana.patch(`${one.api}/error_tracking/settings`, { active: true })
    expect((await send(one, body)).status).toBe(200)
    const [key] = (await ana.get(`${one.api}/error_tracking/client_keys`)).body
    const deleted = await ana.delete(`${one.api}/error_tracking/client_keys/${key.id}`)
    expect([deleted.status, deleted.body.public_key]).toEqual([200, one.key])
    expect((await send(one, body)).status).toBe(404)
  })

  test('an archived project takes no reports, and says so to its own programs alone', async () => {
    const [one, other] = [await project(), await project()]
    const body = inEnvelope(exampleEvent())
    expect((await ana.post(`${one.api}/archive`)).status).toBe(201)
    expect((await send(one, body)).status).toBe(403)
    expect((await send(one, body, auth(other))).status).toBe(404)
    expect(await errorsOf(one)).toEqual([])
    expect((await ana.post(`${one.api}/unarchive`)).status).toBe(201)
    expect((await send(one, body)).status).toBe(200)
  })

  test('another content type is 415, and an event above 1 MiB 413', async () => {
    const one = await project()
    const html = { ...auth(one), 'Content-Type': 'text/html' }
    expect((await send(one, inEnvelope(exampleEvent()), html)).status).toBe(415)
    const large = exampleEvent({ extra: 'x'.repeat(1_048_576) })
    expect((await one.report(large)).status).toBe(413)
    const stored = { method: 'POST', headers: auth(one), body: JSON.stringify(large) }
    expect((await fetch(one.store, stored)).status).toBe(413)
  })

  test('pages of any origin may ask and report, and see why they are refused', async () => {
    const one = await project()
    const asked = await fetch(one.envelope, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-sentry-auth',
      },
    })
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-origin')).toBe('*')
    expect(asked.headers.get('access-control-allow-headers')).toContain('x-sentry-auth')
    expect(asked.headers.get('access-control-allow-methods')).toContain('POST')
    const refused = await send(one, 'x', {})
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    const other = await fetch(`${world.url}/api/v4/version`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' },
    })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })
})

test('a key that reports more than its quota gets the time until it is accepted again, and others are not refused', async () => {
  const small = await openWorld({ errorEventsPerMinute: 5 }, { background: false })
  try {
    const eve = await small.user('eve')
    const one = await reportedProject(small, eve, 'noisy')
    const other = await reportedProject(small, eve, 'quiet')
    for (let n = 0; n < 5; n += 1) expect((await one.report(exampleEvent())).status).toBe(200)
    const refused = await one.report(exampleEvent())
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.headers.get('x-sentry-rate-limits')).toBe('60:error;default:key')
    expect((await other.report(exampleEvent())).status).toBe(200)
    small.setNow('2026-05-04T10:00:40.000Z')
    expect((await one.report(exampleEvent())).headers.get('retry-after')).toBe('20')
    small.setNow('2026-05-04T10:01:01.000Z')
    expect((await one.report(exampleEvent())).status).toBe(200)
  } finally {
    await small.close()
  }
})

test('a project of which ten thousand reports wait is refused more until they are counted, and others are not', async () => {
  const [free, full] = [await project(), await project()]
  expect((await free.report(exampleEvent())).status).toBe(200)
  const waiting = world.ctx.db.selectFrom('error_reports').where('project_id', '=', free.id)
  const { event, payload } = await waiting.selectAll().executeTakeFirstOrThrow()
  await errorsOf(free)
  // Reports that another run of the server left behind.
  await sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9990)
    INSERT INTO error_reports (project_id, received_at, event, payload)
    SELECT ${full.id}, ${world.ctx.now()},
      json_set(${event}, '$.eventId', printf('%032x', i + 1000000)), ${payload}
    FROM n`.execute(world.ctx.db)
  for (let n = 0; n < 10; n += 1) expect((await full.report(exampleEvent())).status).toBe(200)
  const refused = await full.report(exampleEvent())
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  expect((await free.report(exampleEvent())).status).toBe(200)
  expect(await errorsOf(full)).toMatchObject([{ count: 10_000 }])
  expect((await full.report(exampleEvent())).status).toBe(200)
})

describe('settings', () => {
  test('are made by PUT, changed by PATCH, and make one key', async () => {
    const made = await createProject(ana, 'settings')
    const path = `/projects/${made.id}/error_tracking`
    expect((await ana.get(`${path}/settings`)).body.message).toBe(
      '404 Error Tracking Setting Not Found',
    )
    expect((await ana.patch(`${path}/settings`, { active: true })).status).toBe(404)
    for (const body of [{}, { active: '' }, { active: 'odd' }, { active: true }])
      expect((await ana.put(`${path}/settings`, body)).status).toBe(400)
    expect((await ana.put(`${path}/settings`, { active: true, integrated: false })).status).toBe(
      400,
    )
    const both = { active: true, integrated: true }
    expect((await ana.put(`${path}/settings`, both)).body).toEqual({
      ...both,
      project_name: null,
      tracker_external_url: null,
      api_url: null,
    })
    await ana.put(`${path}/settings`, both)
    const keys = (await ana.get(`${path}/client_keys`)).body
    expect(keys).toHaveLength(1)
    expect(keys[0].public_key).toMatch(/^svcet_[0-9a-f]{32}$/)
    expect(keys[0].sentry_dsn).toBe(
      `${world.ctx.config.externalUrl}/errortracking/api/v1/projects/${made.id}`.replace(
        '://',
        `://${keys[0].public_key}@`,
      ),
    )
    expect((await ana.post(`${path}/client_keys`)).status).toBe(201)
    expect((await ana.delete(`${path}/client_keys/99999`)).status).toBe(404)
  })
})
