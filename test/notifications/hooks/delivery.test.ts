import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { forgetDeliveries } from '../../../src/notifications/hooks/deliver.ts'
import { fireHooks, type HookPayload } from '../../../src/notifications/hooks/fire.ts'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
let receiver: Receiver
let projectId: number
let hooks: string
const begin = Date.parse('2026-05-04T10:00:00.000Z')

beforeAll(async () => {
  receiver = await openReceiver()
  projectId = (await createProject(ana, 'sender')).id
  hooks = `/projects/${projectId}/hooks`
  await world.runTasks()
})
afterAll(() => receiver.close())
afterEach(async () => {
  for (const { id } of (await ana.get(hooks)).body) await ana.delete(`${hooks}/${id}`)
  await world.runTasks()
  world.setNow(new Date(begin).toISOString())
  receiver.answer((response) => void response.end('ok'))
  receiver.received.length = 0
})

async function hook(more: Record<string, unknown> = {}): Promise<string> {
  const given = { url: `${receiver.url}/in`, push_events: false, issues_events: true }
  const made = await ana.post(hooks, { ...given, ...more })
  expect(made.status).toBe(201)
  return `${hooks}/${made.body.id}`
}

/** Lets something happen that hooks of issues are called for. */
async function happen(payload: HookPayload = { object_kind: 'issue', number: 1 }) {
  const { namespace_id } = await world.ctx.db
    .selectFrom('projects')
    .select('namespace_id')
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
  await fireHooks(world.ctx, { id: projectId, namespace_id }, 'issue', () => payload)
}

const passed = (seconds: number) => {
  const now = new Date(begin + seconds * 1000).toISOString()
  world.setNow(now)
  return now
}
const log = async (at: string, query = '') => (await ana.get(`${at}/events${query}`)).body
const state = async (at: string) => {
  const { alert_status, disabled_until } = (await ana.get(at)).body
  return [alert_status, disabled_until]
}

describe('what a receiver answers', () => {
  test.each([200, 201, 202, 204, 299])('%i is well, and the end of it', async (status) => {
    const at = await hook()
    receiver.answer((response) => void response.writeHead(status).end())
    await happen()
    await world.runTasks()
    passed(3600)
    await world.runTasks()
    expect(receiver.received).toHaveLength(1)
    expect(await log(at)).toMatchObject([{ response_status: String(status) }])
    expect(await state(at)).toEqual(['executable', null])
  })

  test.each([400, 401, 403, 404, 410, 413, 422])(
    '%i is a fault of the request, which is not sent again',
    async (status) => {
      const at = await hook()
      receiver.answer((response) => void response.writeHead(status).end('no'))
      await happen()
      await world.runTasks()
      passed(3600)
      await world.runTasks()
      expect(receiver.received).toHaveLength(1)
      expect(await log(at)).toMatchObject([
        { response_status: String(status), response_body: 'no' },
      ])
    },
  )

  test.each([429, 500, 502, 503, 504])(
    '%i is asked again ten seconds later, and well then',
    async (status) => {
      const at = await hook()
      receiver.answer((response) => void response.writeHead(status).end())
      await happen()
      await world.runTasks()
      receiver.answer((response) => void response.end('now'))
      passed(9)
      await world.runTasks()
      expect(receiver.received).toHaveLength(1)
      passed(11)
      await world.runTasks()
      passed(3600)
      await world.runTasks()
      expect(receiver.received).toHaveLength(2)
      const [first, second] = receiver.received.map(({ headers }) => headers)
      expect(second?.['idempotency-key']).toBe(first?.['idempotency-key'])
      expect(await log(at)).toMatchObject([{ response_status: '200', response_body: 'now' }])
      expect(await state(at)).toEqual(['executable', null])
    },
  )

  test('a redirect is not followed, wherever it leads', async () => {
    const at = await hook()
    for (const status of [301, 302, 307, 308]) {
      receiver.answer(
        (response) => void response.writeHead(status, { Location: `${receiver.url}/other` }).end(),
      )
      await happen()
      await world.runTasks()
    }
    expect(receiver.received.map(({ url }) => url)).toEqual(['/in', '/in', '/in', '/in'])
    const found = await log(at)
    expect(found.map((one: { response_status: string }) => one.response_status)).toEqual(
      Array.from({ length: 4 }, () => 'internal error'),
    )
  })

  test('is kept as text, its first bytes and headers, unpacked or not', async () => {
    const at = await hook()
    receiver.answer((response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'X-Seen': 'yes' })
      response.end(gzipSync('a\0b\u00ff'))
    })
    await happen()
    await world.runTasks()
    const [entry] = await log(at)
    expect(entry.response_headers).toMatchObject({ 'x-seen': 'yes' })
    expect(entry.response_body).not.toContain('\0')
    receiver.answer((response) => void response.writeHead(200).end(`${'x'.repeat(9000)}end`))
    await happen()
    await world.runTasks()
    expect((await log(at))[0].response_body).toBe('x'.repeat(8192))
  })

  test('nothing at all is tried again, and reported as an error of the connection', async () => {
    const gone = await openReceiver()
    await gone.close()
    const at = await hook({ url: gone.url })
    await happen()
    await world.runTasks()
    const [entry] = await log(at)
    expect(entry).toMatchObject({ response_status: 'internal error', response_headers: {} })
    const { attempts, state } = await world.ctx.db
      .selectFrom('webhook_deliveries')
      .select(['attempts', 'state'])
      .where('id', '=', entry.id)
      .executeTakeFirstOrThrow()
    expect([attempts, state]).toEqual([1, 'waiting'])
    passed(11)
    await world.runTasks()
    expect((await log(at)).map((one: { id: number }) => one.id)).toEqual([entry.id])
  })
})

describe('a hook whose receiver fails', () => {
  test('rests a minute after four failures in a row, then twice as long each time, a day at most', async () => {
    const at = await hook()
    receiver.answer((response) => void response.writeHead(404).end())
    let clock = 0
    for (let failures = 1; failures <= 40; failures += 1) {
      const now = passed(clock)
      await happen()
      await world.runTasks()
      expect([failures, receiver.received.length]).toEqual([failures, failures])
      const rest = failures < 4 ? 0 : Math.min(60 * 2 ** (failures - 4), 86_400)
      const until = new Date(Date.parse(now) + rest * 1000).toISOString()
      const expected =
        failures === 40 ? 'disabled' : rest > 0 ? 'temporarily_disabled' : 'executable'
      expect([failures, ...(await state(at))]).toEqual([
        failures,
        expected,
        rest > 0 ? until : null,
      ])
      clock += rest + 1
    }
    passed(clock + 90 * 86_400)
    await happen()
    await world.runTasks()
    expect(receiver.received).toHaveLength(40)
    receiver.answer((response) => void response.end())
    expect((await ana.put(at, { name: 'mended' })).body).toMatchObject({
      alert_status: 'executable',
      disabled_until: null,
    })
    await happen()
    await world.runTasks()
    expect(receiver.received).toHaveLength(41)
  })

  test('begins to count anew once it was well', async () => {
    const at = await hook()
    for (const status of [404, 404, 404, 200, 404, 404, 404]) {
      receiver.answer((response) => void response.writeHead(status).end())
      await happen()
      await world.runTasks()
    }
    expect(await state(at)).toEqual(['executable', null])
    receiver.answer((response) => void response.writeHead(404).end())
    await happen()
    await world.runTasks()
    expect((await state(at))[0]).toBe('temporarily_disabled')
  })

  test('gets what was on its way after its rest, and nothing of what happens meanwhile', async () => {
    const at = await hook()
    receiver.answer((response) => void response.writeHead(404).end())
    for (let n = 0; n < 3; n += 1) {
      await happen()
      await world.runTasks()
    }
    // The fourth failure is of the first of these: the others were written before it.
    receiver.answer((response) => void response.writeHead(503).end())
    await happen({ number: 'waits' })
    await world.runTasks()
    expect((await state(at))[0]).toBe('temporarily_disabled')
    await happen({ number: 'unheard' })
    receiver.received.length = 0
    receiver.answer((response) => void response.end())
    passed(59)
    await world.runTasks()
    expect(receiver.received).toEqual([])
    passed(61)
    await world.runTasks()
    expect(receiver.received.map(({ body }) => body)).toEqual([{ number: 'waits' }])
    expect(await state(at)).toEqual(['executable', null])
  })

  test('that was given up drops what still waited for it', async () => {
    const at = await hook()
    receiver.answer((response) => void response.writeHead(503).end())
    await happen({ number: 'waits' })
    await world.runTasks()
    await world.ctx.db.updateTable('webhooks').set({ failures: 40 }).execute()
    passed(3600)
    await world.runTasks()
    expect(receiver.received).toHaveLength(1)
    expect(await state(at)).toEqual(['disabled', null])
    await ana.put(at, { name: 'again' })
    passed(7200)
    await world.runTasks()
    expect(receiver.received).toHaveLength(1)
  })

  test('and is deleted is not asked again', async () => {
    const at = await hook()
    receiver.answer((response) => void response.writeHead(503).end())
    await happen()
    await world.runTasks()
    await ana.delete(at)
    passed(3600)
    await world.runTasks()
    expect(receiver.received).toHaveLength(1)
  })

  test('works again after a test that went well, and rests on after one that did not', async () => {
    const at = await hook({ wiki_page_events: true })
    await ana.post(`/projects/${projectId}/issues`, { title: 'One' })
    await world.runTasks()
    const rest = async () => {
      await world.ctx.db
        .updateTable('webhooks')
        .set({ failures: 10, disabled_until: '2026-05-05T10:00:00.000Z' })
        .execute()
    }
    await rest()
    receiver.answer((response) => void response.writeHead(500).end())
    const failed = await ana.post(`${at}/test/issues_events`)
    expect([failed.status, failed.body]).toEqual([
      422,
      { message: 'Hook execution failed: the receiver answered with status 500' },
    ])
    expect((await state(at))[0]).toBe('temporarily_disabled')
    receiver.answer((response) => void response.end())
    expect((await ana.post(`${at}/test/issues_events`)).status).toBe(201)
    expect(await state(at)).toEqual(['executable', null])
  })
})

describe('the log of a hook', () => {
  test('has all of each delivery, the newest first, in pages', async () => {
    const at = await hook({ name: 'logged' })
    await happen({ number: 1 })
    await world.runTasks()
    passed(5)
    await happen({ number: 2 })
    await world.runTasks()
    const [second, first] = await log(at)
    const headers: IncomingHttpHeaders = receiver.received[0]?.headers ?? {}
    expect(first).toEqual({
      id: first.id,
      url: `${receiver.url}/in`,
      trigger: 'issues_events',
      request_headers: {
        'Content-Type': 'application/json',
        'User-Agent': headers['user-agent'],
        'Idempotency-Key': headers['idempotency-key'],
        'X-Svc-Event': 'Issue Hook',
        'X-Gitlab-Event': 'Issue Hook',
        'X-Svc-Webhook-UUID': headers['x-svc-webhook-uuid'],
        'X-Gitlab-Webhook-UUID': headers['x-svc-webhook-uuid'],
        'X-Svc-Instance': world.ctx.config.externalUrl,
        'X-Gitlab-Instance': world.ctx.config.externalUrl,
        'X-Svc-Event-UUID': headers['x-svc-event-uuid'],
        'X-Gitlab-Event-UUID': headers['x-svc-event-uuid'],
      },
      request_data: { number: 1 },
      response_headers: expect.objectContaining({ 'content-length': '2' }),
      response_body: 'ok',
      execution_duration: 0,
      response_status: '200',
      created_at: '2026-05-04T10:00:00.000Z',
    })
    expect(second).toMatchObject({
      request_data: { number: 2 },
      created_at: '2026-05-04T10:00:05.000Z',
    })
    const page = await ana.get(`${at}/events?per_page=1&page=2`)
    expect([page.body, page.headers.get('x-total')]).toEqual([[first], '2'])
  })

  test('is narrowed by statuses and by kinds of them', async () => {
    const at = await hook()
    for (const status of [200, 201, 404, 410, 500]) {
      receiver.answer((response) => void response.writeHead(status).end())
      await happen()
      await world.runTasks()
    }
    const statuses = async (query: string) =>
      (await log(at, `?status=${query}`)).map((one: { response_status: string }) =>
        Number(one.response_status),
      )
    expect(await statuses('successful')).toEqual([201, 200])
    expect(await statuses('client_failure')).toEqual([410, 404])
    expect(await statuses('server_failure')).toEqual([500])
    expect(await statuses('404')).toEqual([404])
    expect(await statuses('successful,500')).toEqual([500, 201, 200])
    expect(await statuses('40')).toEqual([])
    expect(await statuses('everything')).toEqual([])
    expect(await log(at, '?status[]=410&status[]=201')).toHaveLength(2)
  })

  test('goes back seven days, and what is older is removed', async () => {
    const at = await hook()
    await happen()
    await world.runTasks()
    passed(7 * 86_400)
    expect(await log(at)).toHaveLength(1)
    passed(7 * 86_400 + 1)
    expect(await log(at)).toEqual([])
    const rows = () => world.ctx.db.selectFrom('webhook_deliveries').select('id').execute()
    expect(await rows()).not.toEqual([])
    await forgetDeliveries.handler(world.ctx, {}, new AbortController().signal)
    expect(await rows()).toEqual([])
  })

  test('is forgotten in pieces, so that nobody waits for all of a busy day', async () => {
    const at = await hook()
    await happen()
    const { db } = world.ctx
    const { id: _, ...one } = await db
      .selectFrom('webhook_deliveries')
      .selectAll()
      .executeTakeFirstOrThrow()
    await db
      .insertInto('webhook_deliveries')
      .values(Array.from({ length: 299 }, () => one))
      .execute()
    passed(7 * 86_400 + 1)
    const count = async () =>
      (await db.selectFrom('webhook_deliveries').select('id').execute()).length
    await expect(forgetDeliveries.handler(world.ctx, {}, AbortSignal.abort())).rejects.toThrow()
    expect([await count(), await log(at)]).toEqual([100, []])
    await forgetDeliveries.handler(world.ctx, {}, new AbortController().signal)
    expect(await count()).toBe(0)
  })

  test('is sent from again: the same event under another key', async () => {
    const at = await hook()
    const [none] = [await ana.post(`${at}/events/999999/resend`)]
    expect([none?.status, none?.body]).toEqual([404, { message: '404 Not found' }])
    receiver.answer((response) => void response.writeHead(503).end('later'))
    await happen({ number: 3 })
    await world.runTasks()
    const [entry] = await log(at)
    const again = await ana.post(`${at}/events/${entry.id}/resend`)
    expect([again.status, again.body]).toEqual([201, { response_status: 503 }])
    const [first, second] = receiver.received
    expect(second?.body).toEqual({ number: 3 })
    expect(second?.headers['x-svc-event-uuid']).toBe(first?.headers['x-svc-event-uuid'])
    expect(second?.headers['idempotency-key']).not.toBe(first?.headers['idempotency-key'])
    expect(await log(at)).toHaveLength(2)
    const other = await hook()
    expect((await ana.post(`${other}/events/${entry.id}/resend`)).status).toBe(404)
  })

  test('is sent from five times a minute, and not more', async () => {
    passed(60_000)
    const at = await hook()
    await happen()
    await world.runTasks()
    const [entry] = await log(at)
    const resend = () => ana.post(`${at}/events/${entry.id}/resend`)
    for (let n = 0; n < 5; n += 1) expect((await resend()).status).toBe(201)
    const refused = await resend()
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toEqual([
      429,
      {
        message: {
          error: 'This endpoint has been requested too many times. Try again later.',
        },
      },
      '60',
    ])
    expect(receiver.received).toHaveLength(6)
  })
})

describe('a template of the body', () => {
  const templated = async (template: string, payload: HookPayload) => {
    const at = await hook({ custom_webhook_template: template })
    await happen(payload)
    await world.runTasks()
    return { at, received: receiver.received.at(-1)?.body }
  }

  test.each([
    ['{"a": {{object.id}}}', { object: { id: 7 } }, { a: 7 }],
    ['{"a": "{{object.id}}"}', { object: { id: 7 } }, { a: '7' }],
    ['{"a": "{{ text }}"}', { text: 'a "b"\n\\c' }, { a: 'a "b"\n\\c' }],
    ['{"a": {{list}}}', { list: [1, { b: 2 }] }, { a: [1, { b: 2 }] }],
    ['{"a": "{{list.1.b}}"}', { list: [1, { b: 'x' }] }, { a: 'x' }],
    ['{"a": {{yes}}, "b": "{{none.at.all}}"}', { yes: true }, { a: true, b: '' }],
    ['{"a": "{{constructor.name}}{{__proto__.x}}"}', {}, { a: '' }],
    ['{"a": "{{nothing}}"}', { nothing: null }, { a: '' }],
    ['["{{a}}", "{ {a} }", "{{a b}}"]', { a: '{{b}}', b: 'x' }, ['{{b}}', '{ {a} }', '{{a b}}']],
  ])('%s of %j is %j', async (template, payload, sent) => {
    expect((await templated(template, payload)).received).toEqual(sent)
  })

  test('that makes no JSON sends nothing, and is reported in the log', async () => {
    const { at } = await templated('{"a": {{text}}}', { text: 'not quoted' })
    expect(receiver.received).toEqual([])
    expect(await log(at)).toMatchObject([
      {
        response_status: 'internal error',
        response_body: 'The custom webhook template does not make JSON.',
        request_data: { text: 'not quoted' },
      },
    ])
    const tested = await ana.post(`${at}/test/issues_events`)
    expect(tested.status).toBe(422)
    passed(3600)
    await world.runTasks()
    expect(receiver.received).toEqual([])
  })

  test('is at most 4096 characters long', async () => {
    const body = { url: receiver.url, custom_webhook_template: `"${'x'.repeat(4094)}"` }
    expect((await ana.post(hooks, body)).status).toBe(201)
    const longer = { ...body, custom_webhook_template: `"${'x'.repeat(4095)}"` }
    const refused = await ana.post(hooks, longer)
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'custom_webhook_template is too long (maximum is 4096 characters)' },
    ])
  })
})

describe('trying a hook out', () => {
  const named = [
    ['push_events', 'commits'],
    ['tag_push_events', 'tags'],
    ['note_events', 'comments'],
    ['confidential_note_events', 'comments'],
    ['merge_requests_events', 'merge requests'],
    ['job_events', 'jobs'],
    ['pipeline_events', 'pipelines'],
    ['wiki_page_events', 'pages'],
    ['deployment_events', 'deployments'],
    ['feature_flag_events', 'flags'],
    ['releases_events', 'releases'],
    ['milestone_events', 'milestones'],
    ['emoji_events', 'reactions'],
    ['resource_access_token_events', 'tokens'],
    ['alert_events', 'alerts'],
    ['vulnerability_events', 'vulnerabilities'],
    ['repository_update_events', 'nothing of its own'],
  ] as const

  test.each(named)('with %s says 422 where the project has no %s', async (trigger) => {
    // Five tries a minute: each has a minute of its own.
    passed(3600 + 60 * named.findIndex(([name]) => name === trigger))
    const at = await hook()
    const reply = await ana.post(`${at}/test/${trigger}`)
    expect([reply.status, reply.body]).toEqual([
      422,
      { message: 'Ensure the project has something to make an example of.' },
    ])
    expect(receiver.received).toEqual([])
    expect(await log(at)).toEqual([])
  })

  test('is for those who look after it, five times a minute', async () => {
    passed(90_000)
    const at = await hook()
    await ana.post(`/projects/${projectId}/issues`, { title: 'Tried' })
    const unknown = await ana.post(`${at}/test/all_events`)
    expect([unknown.status, unknown.body]).toEqual([
      400,
      { error: 'trigger does not have a valid value' },
    ])
    for (let n = 0; n < 4; n += 1) {
      expect((await ana.post(`${at}/test/issues_events`)).status).toBe(201)
    }
    const refused = await ana.post(`${at}/test/issues_events`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    const eve = await world.user('eve')
    expect((await eve.post(`${at}/test/issues_events`)).status).toBe(404)
    expect((await world.nobody.post(`${at}/test/issues_events`)).status).toBe(404)
  })
})

describe('a receiver with a certificate of its own', () => {
  let secure: Server
  let url: string
  const requested: string[] = []

  beforeAll(async () => {
    const folder = join(world.folder, 'certificate')
    mkdirSync(folder)
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const words = ['-subj', '/CN=receiver', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30']
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
    const files = ['-nodes', '-keyout', key, '-out', certificate]
    execFileSync('openssl', [...made, ...words, ...files], { stdio: 'ignore' })
    const identity = { key: readFileSync(key), cert: readFileSync(certificate) }
    secure = createServer(identity, (request, response) => {
      requested.push(request.url ?? '')
      response.end('secure')
    })
    await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done))
    url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/in`
  })
  afterAll(() => {
    secure.closeAllConnections()
    secure.close()
  })

  test('is not believed, unless the hook does not ask for it', async () => {
    const strict = await hook({ url })
    const loose = await hook({ url: `${url}/loose`, enable_ssl_verification: false })
    await happen()
    await world.runTasks()
    expect(requested).toEqual(['/in/loose'])
    expect(await log(loose)).toMatchObject([{ response_status: '200', response_body: 'secure' }])
    const [entry] = await log(strict)
    expect(entry.response_status).toBe('internal error')
    await ana.put(loose, { enable_ssl_verification: true })
    await happen()
    await world.runTasks()
    expect(requested).toHaveLength(1)
  })
})

test('a hook is called for an event as long as it has it on', async () => {
  const at = await hook()
  await ana.put(at, { issues_events: false })
  await happen()
  await world.runTasks()
  expect(receiver.received).toEqual([])
  await ana.put(at, { issues_events: true })
  await happen()
  await world.runTasks()
  expect(receiver.received).toHaveLength(1)
})
