import { beforeAll, describe, expect, test, vi } from 'vitest'
import { addMember } from '../support/members.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { exampleEvent, inEnvelope, type Reported, reportedProject } from './errors.ts'

const world = useWorld({ errorEventsPerMinute: 0 }, { background: false })
const ana = useCaller(world, 'ana')
let one: Reported
let count = 0
const NOW = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  one = await reportedProject(world, ana, 'fields')
})

const errors = (of: Reported, query = '') =>
  ana.get(`${of.api}/error_tracking/errors${query}`).then(({ body }) => body)

/** Reports an event whose error is no other's, and gives that error and the event as people see them. */
async function reported(more: Record<string, unknown>) {
  count += 1
  const event = exampleEvent({ logger: `own ${count}`, transaction: `own ${count}`, ...more })
  const reply = await one.report(event)
  expect([reply.status, await reply.json()]).toEqual([200, { id: expect.any(String) }])
  await world.runTasks()
  const [error] = await errors(one, '?sort=first_seen&per_page=1')
  const newest = await world.ctx.db
    .selectFrom('errors')
    .select('id')
    .where('project_id', '=', one.id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const path = `${one.api}/error_tracking/errors/${newest.id}`
  const detail = (await ana.get(path)).body
  return { error, detail, event: (await ana.get(`${path}/events/latest`)).body, path }
}

/** What a report that is none is answered. */
async function refused(more: Record<string, unknown>) {
  const reply = await one.report(exampleEvent(more))
  return [reply.status, await reply.json()]
}

const unsupported = [400, { message: '400 Bad request - Unsupported sentry payload' }]

describe('an error', () => {
  test('is shown with every field, in the list and by itself', async () => {
    const of = await reportedProject(world, ana, 'whole')
    await of.report(
      exampleEvent({
        transaction: '/pay',
        release: 'app@1.0',
        level: 'fatal',
        logger: 'pay',
        user: { id: 1 },
        timestamp: '2026-05-04T09:30:00Z',
      }),
    )
    await of.report(exampleEvent({ transaction: '/pay', release: 'app@1.1', user: { id: 2 } }))
    await world.runTasks()
    const [error, ...others] = await errors(of)
    expect(others).toEqual([])
    const { externalUrl } = world.ctx.config
    const shown = {
      id: expect.stringMatching(/^\d+$/),
      title: 'ZeroDivisionError: division by zero',
      message: 'division by zero',
      culprit: '/pay',
      type: 'ZeroDivisionError',
      status: 'unresolved',
      count: 2,
      user_count: 2,
      first_seen: '2026-05-04T09:30:00.000Z',
      last_seen: NOW,
      frequency: [[Date.parse(NOW) / 1000, 2]],
      external_url: `${externalUrl}/ana/whole/-/error_tracking/${error.id}/details`,
      project_id: of.id,
    }
    expect(error).toEqual(shown)
    const { body: detail } = await ana.get(`${of.api}/error_tracking/errors/${error.id}`)
    expect({ ...detail, places: [...detail.places].sort(byRelease) }).toEqual({
      ...shown,
      first_release_version: 'app@1.0',
      last_release_version: 'app@1.1',
      tags: { level: 'error', logger: null },
      platform: 'python',
      places: [
        {
          release: 'app@1.0',
          environment: 'production',
          events: 1,
          first_seen: '2026-05-04T09:30:00.000Z',
          last_seen: '2026-05-04T09:30:00.000Z',
        },
        {
          release: 'app@1.1',
          environment: 'production',
          events: 1,
          first_seen: NOW,
          last_seen: NOW,
        },
      ],
      issue: null,
      commit: null,
    })
  })

  const byRelease = (one: { release: string }, other: { release: string }) =>
    one.release.localeCompare(other.release)

  test.each([
    [{ type: 'KeyError', value: 'x' }, 'KeyError', 'x', 'KeyError: x'],
    [{ type: 'KeyError' }, 'KeyError', '', 'KeyError'],
    [{ type: 'KeyError', value: ' ' }, 'KeyError', '', 'KeyError'],
    [{ value: 'only words' }, 'Error', 'only words', 'Error: only words'],
    [{ type: 'Seven', value: 8 }, 'Seven', '8', 'Seven: 8'],
    [{ type: 'Thrown', value: { code: 5 } }, 'Thrown', '{"code":5}', 'Thrown: {"code":5}'],
    [{ type: 'Thrown', value: false }, 'Thrown', 'false', 'Thrown: false'],
    [{ type: null, value: null }, 'Error', '', 'Error'],
    [{ type: 'a\0b', value: 'c\0d' }, 'ab', 'cd', 'ab: cd'],
    [{ type: 'x'.repeat(300) }, 'x'.repeat(255), '', 'x'.repeat(255)],
    [{ type: 'T', value: 'y'.repeat(2000) }, 'T', 'y'.repeat(1024), `T: ${'y'.repeat(1024)}`],
  ])('of the exception %j is called so', async (exception, type, message, title) => {
    const { detail } = await reported({ exception: [exception] })
    expect(detail).toMatchObject({ type, message, title })
  })

  test.each<[string, unknown, string | undefined, string]>([
    ['one by itself', { type: 'Alone', value: 'v' }, undefined, 'Alone: v'],
    ['one by itself at values', { values: { type: 'Alone', value: 'v' } }, undefined, 'Alone: v'],
    ['one by itself beside a message', { type: 'Alone', value: 'v' }, 'said', 'Alone: v'],
    ['no values beside a message', { values: [] }, 'said', 'message: said'],
    ['values that are null beside a message', { values: null }, 'said', 'message: said'],
    ['an empty list beside a message', [], 'said', 'message: said'],
    ['an empty object beside a message', {}, 'said', 'message: said'],
    ['a text beside a message', 'KeyError', 'said', 'message: said'],
    ['one of a wrong type beside a message', [{ type: 5 }], 'said', 'message: said'],
    ['null and a text among others', [null, 'x', { type: 'Third' }], undefined, 'Third'],
    ['one of a wrong type among others', [{ type: 5 }, { type: 'Right' }], undefined, 'Right'],
    ['a list for a stack', [{ type: 'Php', stacktrace: [] }], undefined, 'Php'],
    ['no list for frames', [{ type: 'Php', stacktrace: { frames: {} } }], undefined, 'Php'],
    ['null among frames', [{ type: 'N', stacktrace: { frames: [null] } }], undefined, 'N'],
  ])('of an exception that is %s is taken', async (what, exception, message, title) => {
    const { detail, event } = await reported({ exception, message, transaction: what })
    expect([detail.title, event.stack_trace_entries]).toEqual([title, []])
  })

  test('that is a message with an empty list has its text as culprit', async () => {
    const none = { exception: { values: [] }, transaction: undefined }
    const [a, b] = [
      await reported({ ...none, message: 'first words' }),
      await reported({ ...none, message: 'other words' }),
    ]
    expect([a.detail.culprit, b.detail.culprit]).toEqual(['first words', 'other words'])
  })

  test.each([
    ['a transaction', { transaction: '/pay' }, [], '/pay'],
    [
      'the innermost frame',
      { transaction: undefined },
      [{ function: 'outer' }, { function: 'inner', module: 'app' }],
      'inner(app)',
    ],
    ['a frame without a module', { transaction: '' }, [{ function: 'alone' }], 'alone()'],
    ['a frame without anything', { transaction: null }, [{}], '()'],
    ['nothing', { transaction: undefined }, [], ''],
    ['a long transaction', { transaction: 't'.repeat(300) }, [], 't'.repeat(255)],
  ])('of %s comes from there', async (_, more, frames, culprit) => {
    count += 1
    const exception = [{ type: `Placed${count}`, value: 'x', stacktrace: { frames } }]
    const { detail } = await reported({ ...more, exception })
    expect(detail.culprit).toBe(culprit)
  })

  test.each([
    ['a text', { message: 'Plain' }, 'Plain'],
    [
      'an object with its whole text',
      { message: { formatted: 'Whole', message: 'W %s' } },
      'Whole',
    ],
    ['an entry', { logentry: { message: 'Entry %s', params: ['x'] } }, 'Entry %s'],
    ['an entry with its whole text', { logentry: { formatted: 'Full' } }, 'Full'],
    ['a number', { message: 42 }, '42'],
  ])('of a message that is %s is called a message', async (_, more, words) => {
    const { detail } = await reported({ exception: undefined, ...more })
    expect(detail).toMatchObject({ type: 'message', message: words, title: `message: ${words}` })
  })

  test.each([
    ['python', 'python'],
    [undefined, 'other'],
    [null, 'other'],
    ['', 'other'],
    [{}, 'other'],
    ['p'.repeat(255), 'p'.repeat(255)],
  ])('of the platform %j is of %s', async (platform, shown) => {
    expect((await reported({ platform })).detail.platform).toBe(shown)
  })

  test('names its level and logger as the last event does', async () => {
    const { path } = await reported({ level: 'warning', logger: 'first', transaction: 'levelled' })
    await one.report(exampleEvent({ level: undefined, transaction: 'levelled' }))
    await world.runTasks()
    expect((await ana.get(path)).body.tags).toEqual({ level: null, logger: null })
    await one.report(exampleEvent({ level: 'x'.repeat(255), transaction: 'levelled' }))
    await world.runTasks()
    expect((await ana.get(path)).body.tags.level).toBe('x'.repeat(255))
  })
})

describe('an event is refused as a whole', () => {
  test.each(['platform', 'environment', 'level'])('where its %s is too long', async (name) => {
    expect(await refused({ [name]: 'x'.repeat(256) })).toEqual(unsupported)
  })

  test.each<[string, Record<string, unknown>]>([
    ['neither an exception nor a message', { exception: undefined }],
    ['an empty message', { exception: undefined, message: ' ' }],
    ['no exception in its list', { exception: [] }],
    ['an exception that holds nothing', { exception: {} }],
    ['no exception in its values', { exception: { values: [] } }],
    ['a text for an exception', { exception: 'KeyError' }],
    ['texts for exceptions', { exception: ['KeyError', null] }],
    ['a number for a type', { exception: [{ type: 5 }] }],
    ['a number for the type of the only one', { exception: { type: 5, value: 'x' } }],
    ['a list for a type', { exception: [{ type: ['x'] }] }],
  ])('with %s', async (_, more) => {
    expect(await refused(more)).toEqual(unsupported)
  })

  test('and nothing of it is kept, nor of others in the same envelope', async () => {
    const of = await reportedProject(world, ana, 'refusing')
    const headers = { 'X-Sentry-Auth': `Sentry sentry_key=${of.key}` }
    const good = inEnvelope(exampleEvent())
    const bad = inEnvelope(exampleEvent({ exception: {} })).replace(/^\{\}\n/, '')
    const reply = await fetch(of.envelope, { method: 'POST', headers, body: good + bad })
    expect(reply.status).toBe(400)
    await world.runTasks()
    expect(await errors(of)).toEqual([])
  })
})

describe('an event', () => {
  test.each([
    ['2026-05-04T09:00:00Z', '2026-05-04T09:00:00.000Z'],
    ['2026-05-04T09:00:00.123456Z', '2026-05-04T09:00:00.123Z'],
    ['2026-05-04T11:00:00+02:00', '2026-05-04T09:00:00.000Z'],
    ['2026-05-04T09:00:00', '2026-05-04T09:00:00.000Z'],
    [1_777_885_200, '2026-05-04T09:00:00.000Z'],
    [1_777_885_200.25, '2026-05-04T09:00:00.250Z'],
    ['1777885200.5', '2026-05-04T09:00:00.500Z'],
    ['2026-05-04T10:00:01Z', NOW],
    [9_999_999_999, NOW],
    [-1, NOW],
    ['soon', NOW],
    [null, NOW],
    [{}, NOW],
    [undefined, NOW],
  ])('of %j happened at %s', async (timestamp, occurred_at) => {
    const { event, detail } = await reported({ timestamp })
    expect(event).toMatchObject({ occurred_at, date_received: NOW })
    expect([detail.first_seen, detail.last_seen]).toEqual([occurred_at, occurred_at])
  })

  test.each([
    ['0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdef'],
    ['FEDCBA98-7654-3210-FEDC-BA9876543210', 'fedcba9876543210fedcba9876543210'],
  ])('is known by its id %s', async (event_id, id) => {
    const { event } = await reported({ event_id })
    expect(event.event_id).toBe(id)
  })

  test.each(['short', 7, null, 'x'.repeat(32)])('gets an id where %j is none', async (event_id) => {
    const { event } = await reported({ event_id })
    expect(event.event_id).toMatch(/^[0-9a-f]{32}$/)
  })

  test('has the stack of the exception that has one, innermost last, with the lines around', async () => {
    const frame = {
      filename: 'a.py',
      abs_path: '/srv/a.py',
      function: 'f',
      module: 'a',
      lineno: 10,
      colno: 3,
      in_app: false,
      pre_context: ['eight', 'nine'],
      context_line: 'ten',
      post_context: ['eleven'],
    }
    const bare = { filename: 7, lineno: '10', colno: 1.5, in_app: 'yes', context_line: 'lost' }
    const exception = {
      values: [
        { type: 'Cause', value: 'no stack' },
        { type: 'Effect', value: 'x', stacktrace: { frames: [bare, 'no frame', frame] } },
      ],
    }
    const { detail, event } = await reported({ exception })
    expect(detail.type).toBe('Effect')
    expect(event.stack_trace_entries).toEqual([
      {
        lineNo: null,
        colNo: null,
        filename: null,
        abs_path: null,
        function: null,
        in_app: null,
        context: [],
        path: null,
        web_url: null,
      },
      {
        lineNo: 10,
        colNo: 3,
        filename: 'a.py',
        abs_path: '/srv/a.py',
        function: 'f',
        in_app: false,
        context: [
          [8, 'eight'],
          [9, 'nine'],
          [10, 'ten'],
          [11, 'eleven'],
        ],
        path: null,
        web_url: null,
      },
    ])
  })

  test('shows at most 250 frames, the innermost of all that there are', async () => {
    const frames = Array.from({ length: 300 }, (_, n) => ({ function: `f${n}` }))
    const { event } = await reported({ exception: [{ type: 'Deep', stacktrace: { frames } }] })
    const names = event.stack_trace_entries.map((entry: { function: string }) => entry.function)
    expect([names.length, names[0], names.at(-1)]).toEqual([250, 'f50', 'f299'])
  })

  test('shows its release, level and environment, cut and cleaned', async () => {
    const { event, detail } = await reported({
      release: `${'r'.repeat(300)}`,
      level: 'in\0fo',
      environment: 'stage\ud800',
    })
    expect(event).toMatchObject({
      release: 'r'.repeat(250),
      level: 'info',
      environment: 'stage\ufffd',
      message: 'division by zero',
      issue_id: detail.id,
    })
  })

  test.each<[string, unknown, number]>([
    ['by number', { id: 7 }, 1],
    ['by address', { email: 'a@example.com' }, 1],
    ['by name', { username: 'ana' }, 1],
    ['by its network', { ip_address: '192.0.2.1' }, 1],
    ['by what the server is to find out', { ip_address: '{{auto}}' }, 0],
    ['by nothing', {}, 0],
    ['by a text', 'ana', 0],
    ['by an empty number', { id: '', email: null }, 0],
  ])('names its user %s', async (_, user, users) => {
    expect((await reported({ user })).detail.user_count).toBe(users)
  })

  test('of one user in several ways counts each way, and the same way once', async () => {
    const { path } = await reported({ user: { id: 7 }, transaction: 'people' })
    for (const user of [
      { id: '7' },
      { id: 7, email: 'x@example.com' },
      { email: '7' },
      { id: 8 },
    ]) {
      await one.report(exampleEvent({ user, transaction: 'people' }))
    }
    await world.runTasks()
    expect((await ana.get(path)).body).toMatchObject({ count: 5, user_count: 3 })
  })
})

describe('the events of an error', () => {
  test('are listed newest first, page by page, and the last alone', async () => {
    const of = await reportedProject(world, ana, 'paged')
    for (let n = 0; n < 5; n += 1) {
      await of.report(exampleEvent({ event_id: String(n).repeat(32), release: `r${n}` }))
      await world.runTasks()
    }
    const [error] = await errors(of)
    const path = `${of.api}/error_tracking/errors/${error.id}/events`
    const seen: string[] = []
    let at = `${path}?per_page=2`
    for (let pages = 0; at !== '' && pages < 9; pages += 1) {
      const reply = await ana.get(at)
      expect(reply.body.length).toBeLessThanOrEqual(2)
      seen.push(...reply.body.map((event: { release: string }) => event.release))
      const next = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1] ?? ''
      at = next.slice(next.indexOf('/projects'))
    }
    expect(seen).toEqual(['r4', 'r3', 'r2', 'r1', 'r0'])
    expect((await ana.get(`${path}/latest`)).body.event_id).toBe('4'.repeat(32))
    expect(await ana.get(`${path}?per_page=500`).then(({ body }) => body)).toHaveLength(5)
    for (const query of ['per_page=0', 'per_page=x', 'cursor=x', 'cursor=W10']) {
      expect([query, (await ana.get(`${path}?${query}`)).status]).toEqual([query, 400])
    }
  })

  test('are of that error and of that project alone', async () => {
    const other = await reportedProject(world, ana, 'other')
    const { path } = await reported({})
    const id = path.split('/').at(-1)
    for (const tail of ['', '/events', '/events/latest']) {
      const reply = await ana.get(`${other.api}/error_tracking/errors/${id}${tail}`)
      expect([tail, reply.status, reply.body]).toEqual([
        tail,
        404,
        { message: '404 Error Not Found' },
      ])
    }
    const put = await ana.put(`${other.api}/error_tracking/errors/${id}`, { status: 'resolved' })
    expect(put.status).toBe(404)
  })

  test('show the places in the code of all events, found in two calls', async () => {
    const of = await reportedProject(world, ana, 'placed', { initialize_with_readme: true })
    const files = Array.from({ length: 250 }, (_, n) => `src/deep/file${n}.py`)
    const { body: made } = await ana.post(`${of.api}/repository/commits`, {
      branch: 'main',
      commit_message: 'Add',
      actions: files.map((file_path) => ({ action: 'create', file_path, content: 'a\nb\n' })),
    })
    await ana.post(`${of.api}/repository/tags?tag_name=v1.0&ref=main`)
    const frames = files.map((file) => ({ filename: `/srv/app/${file}`, lineno: 2 }))
    for (const release of [made.id, 'app@1.0', 'app@1.1', null]) {
      const exception = { values: [{ type: 'E', value: 'v', stacktrace: { frames } }] }
      await of.report(exampleEvent({ release, exception, transaction: '/' }))
    }
    await world.runTasks()
    const [error] = await errors(of)
    const { engine } = world.ctx.git.open(of.id)
    const own = vi.spyOn(engine, 'of').mockReturnValue(engine)
    const run = vi.spyOn(engine, 'run')
    const { body } = await ana.get(`${of.api}/error_tracking/errors/${error.id}/events`)
    expect(run.mock.calls.map(([operation]) => operation.name)).toEqual([
      'findCommits',
      'findFiles',
    ])
    run.mockRestore()
    own.mockRestore()
    const places = (event: { stack_trace_entries: { path: string | null }[] }) =>
      event.stack_trace_entries.map(({ path }) => path)
    const nothing = files.map(() => null)
    expect(body.map(places)).toEqual([nothing, nothing, files, files])
    expect(body[3].stack_trace_entries[249].web_url).toMatch(
      `/-/blob/${made.id}/src/deep/file249.py#L2`,
    )
  })

  test('show no place in the code to whoever may not read it', async () => {
    const of = await reportedProject(world, ana, 'coded', {
      initialize_with_readme: true,
      visibility: 'public',
    })
    const { body: made } = await ana.post(`${of.api}/repository/commits`, {
      branch: 'main',
      commit_message: 'Add',
      actions: [{ action: 'create', file_path: 'src/app.py', content: 'a\nb\nc\n' }],
    })
    await of.report(exampleEvent({ release: made.id }))
    await world.runTasks()
    const reporter = await world.user('reporter')
    await addMember(world, of.id, reporter.id, 20)
    const [error] = await errors(of)
    const path = `${of.api}/error_tracking/errors/${error.id}`
    expect((await reporter.get(path)).body.commit.id).toBe(made.id)
    const closed = { repository_access_level: 'disabled', builds_access_level: 'disabled' }
    await ana.put(of.api, { ...closed, merge_requests_access_level: 'disabled' })
    expect((await reporter.get(path)).body.commit).toBeNull()
    const { body: event } = await reporter.get(`${path}/events/latest`)
    expect(event.stack_trace_entries.map((frame: { path: null }) => frame.path)).toEqual([
      null,
      null,
    ])
    const stranger = await world.user('stranger')
    expect((await stranger.get(path)).status).toBe(403)
    expect((await world.nobody.get(path)).status).toBe(401)
  })
})
