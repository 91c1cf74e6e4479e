import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readPayload } from '../../src/monitoring/errors/payload.ts'
import { createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { exampleEvent, exampleException, reportedProject } from './errors.ts'

const world = useWorld({ errorEventsPerMinute: 0 }, { background: false })
const ana = useCaller(world, 'ana')

const maintainer = useCaller(world, 'maintainer')
const developer = useCaller(world, 'developer')
const reporter = useCaller(world, 'reporter')

async function addPeople(projectId: number) {
  await addMember(world, projectId, maintainer.id, 40)
  await addMember(world, projectId, developer.id, 30)
  await addMember(world, projectId, reporter.id, 20)
}

const noValue = (name: string) => ({ error: `${name} does not have a valid value` })

test('errors are listed by status, sorted, searched, and paged to the last', async () => {
  const one = await reportedProject(world, ana, 'list')
  for (let n = 0; n < 7; n += 1) {
    world.setNow(`2026-05-04T10:00:0${n}.000Z`)
    const exception = [exampleException({ type: `Error${n}`, value: n === 3 ? 'No Disk' : 'x' })]
    for (let times = 0; times < 7 - n; times += 1) await one.report(exampleEvent({ exception }))
  }
  await world.runTasks()
  const path = `${one.api}/error_tracking/errors`
  const types = async (query: string) =>
    (await ana.get(`${path}?${query}`)).body.map((error: { type: string }) => error.type)
  expect((await types('per_page=2')).join()).toBe('Error6,Error5')
  expect((await types('sort=frequency&per_page=2')).join()).toBe('Error0,Error1')
  expect((await types('query=no+disk')).join()).toBe('Error3')
  expect((await types('query=%25')).join()).toBe('')
  expect(await types('status=resolved')).toEqual([])
  expect(await types('per_page=101')).toHaveLength(7)
  const seen: string[] = []
  let cursor = ''
  do {
    const reply = await ana.get(`${path}?per_page=3&sort=first_seen&cursor=${cursor}`)
    seen.push(...reply.body.map((error: { type: string }) => error.type))
    cursor = /[?&]cursor=([^&>]+)/.exec(reply.headers.get('link') ?? '')?.[1] ?? ''
  } while (cursor !== '')
  expect(seen.join()).toBe('Error6,Error5,Error4,Error3,Error2,Error1,Error0')
  for (const query of ['status=odd', 'sort=odd', 'cursor=odd', 'per_page=0'])
    expect((await ana.get(`${path}?${query}`)).status).toBe(400)
})

test('many large events are all kept whole, and so is what an earlier version kept as it came', async () => {
  const one = await reportedProject(world, ana, 'large')
  for (let n = 0; n < 40; n += 1) {
    const exception = [exampleException({ type: `Large${n}`, value: `of Large${n}` })]
    const extra = { bytes: randomBytes(600_000).toString('base64') }
    expect((await one.report(exampleEvent({ exception, extra }))).status).toBe(200)
  }
  await world.runTasks()
  const path = `${one.api}/error_tracking/errors`
  const errors = (await ana.get(`${path}?per_page=100`)).body
  expect(errors).toHaveLength(40)
  for (const { id, type } of errors) {
    const latest = await ana.get(`${path}/${id}/events/latest`)
    expect([latest.status, latest.body.message]).toEqual([200, `of ${type}`])
  }
  expect(await readPayload(Buffer.from('{"platform":"python"}'))).toEqual({ platform: 'python' })
}, 60_000)

test('an error is linked to an issue, and to file and line at the commit of its release', async () => {
  const one = await reportedProject(world, ana, 'linked', { initialize_with_readme: true })
  const commit = (
    await ana.post(`${one.api}/repository/commits`, {
      branch: 'main',
      commit_message: 'Add',
      actions: [{ action: 'create', file_path: 'src/app.py', content: 'a\nb\nc\n' }],
    })
  ).body
  await ana.post(`${one.api}/repository/tags`, { tag_name: 'v1.2.3', ref: 'main' })
  const issue = (await ana.post(`${one.api}/issues`, { title: 'It breaks' })).body
  for (const release of [commit.id, 'app@1.2.3', `app@9.9+${commit.id.slice(0, 10)}`]) {
    await one.report(exampleEvent({ release, transaction: release }))
    await world.runTasks()
    const [error] = (
      await ana.get(`${one.api}/error_tracking/errors?query=${encodeURIComponent(release)}`)
    ).body
    const path = `${one.api}/error_tracking/errors/${error.id}`
    const linked = await ana.put(path, { issue_iid: issue.iid })
    expect(linked.body.issue.web_url).toBe(issue.web_url)
    expect(linked.body.commit.id).toBe(commit.id)
    const event = (await ana.get(`${path}/events/latest`)).body
    expect(event.stack_trace_entries[1]).toMatchObject({
      path: 'src/app.py',
      web_url: `${world.ctx.config.externalUrl}/ana/linked/-/blob/${commit.id}/src/app.py#L3`,
    })
    expect(event.stack_trace_entries[0].web_url).toBeNull()
    expect((await ana.put(path, { issue_iid: null })).body.issue).toBeNull()
    expect((await ana.put(path, { issue_iid: 999 })).status).toBe(404)
    expect((await ana.put(path, {})).status).toBe(400)
  }
  await one.report(exampleEvent({ release: '--upload-pack=x', transaction: 'odd' }))
  await world.runTasks()
  const [odd] = (await ana.get(`${one.api}/error_tracking/errors?query=odd`)).body
  expect((await ana.get(`${one.api}/error_tracking/errors/${odd.id}`)).body.commit).toBeNull()
})

test('an error that is resolved closes the issue in which people work on it', async () => {
  const one = await reportedProject(world, ana, 'closing')
  const issue = (await ana.post(`${one.api}/issues`, { title: 'It breaks' })).body
  await one.report(exampleEvent())
  await world.runTasks()
  const [error] = (await ana.get(`${one.api}/error_tracking/errors`)).body
  const path = `${one.api}/error_tracking/errors/${error.id}`
  await ana.put(path, { issue_iid: issue.iid, status: 'ignored' })
  const state = async () => (await ana.get(`${one.api}/issues/${issue.iid}`)).body.state
  expect(await state()).toBe('opened')
  expect((await ana.put(path, { status: 'resolved' })).body.status).toBe('resolved')
  expect(await state()).toBe('closed')
  world.setNow('2026-05-04T10:00:09.000Z')
  await one.report(exampleEvent())
  await world.runTasks()
  // That it happens again opens the error; what people do about it is theirs.
  expect((await ana.get(path)).body.status).toBe('unresolved')
  expect(await state()).toBe('closed')
})

test('reporters read errors, developers change them, and others are refused', async () => {
  const one = await reportedProject(world, ana, 'roles')
  const [guest, reporter, developer] = await Promise.all(
    ['guest', 'reporter', 'developer'].map((name) => world.user(name)),
  )
  for (const [user, level] of [
    [guest, 10],
    [reporter, 20],
    [developer, 30],
  ] as const)
    await ana.post(`${one.api}/members`, { user_id: user?.id, access_level: level })
  await one.report(exampleEvent())
  await world.runTasks()
  const path = `${one.api}/error_tracking/errors`
  const [{ id }] = (await reporter?.get(path))?.body ?? [{}]
  expect((await guest?.get(path))?.status).toBe(403)
  expect((await reporter?.put(`${path}/${id}`, { status: 'resolved' }))?.status).toBe(403)
  expect((await developer?.put(`${path}/${id}`, { status: 'resolved' }))?.body.status).toBe(
    'resolved',
  )
  expect((await developer?.get(`${one.api}/error_tracking/client_keys`))?.status).toBe(403)
  expect((await world.nobody.get(path)).status).toBe(404)
})

describe('error tracking', () => {
  test('is switched on and off by any form of a boolean, and reports are taken only while it is on', async () => {
    const { id } = await createProject(ana, 'switched')
    await addPeople(id)
    const settings = `/projects/${id}/error_tracking/settings`
    const shown = (active: boolean, integrated: boolean) => ({
      active,
      project_name: null,
      tracker_external_url: null,
      api_url: null,
      integrated,
    })
    for (const yes of [true, 'true', 'True', 1, '1', 'on', 'yes']) {
      const reply = await maintainer.put(settings, { active: yes, integrated: yes })
      expect([yes, reply.status, reply.body]).toEqual([yes, 200, shown(true, true)])
      const off = await maintainer.patch(settings, { active: false })
      expect(off.body).toEqual(shown(false, true))
    }
    const form = new URLSearchParams({ active: 'False', integrated: 'true' })
    const sent = await maintainer.put(settings, undefined, { raw: form })
    expect(sent.body).toEqual(shown(false, true))
    const keys = (await maintainer.get(`/projects/${id}/error_tracking/client_keys`)).body
    expect(keys).toHaveLength(1)
    const store = `/errortracking/api/v1/projects/api/${id}/store/?sentry_key=${keys[0].public_key}`
    const report = async () =>
      (await world.nobody.post(store, exampleEvent(), { host: true })).status
    expect(await report()).toBe(404)
    await maintainer.patch(settings, { active: true })
    expect(await report()).toBe(200)
    await maintainer.put(settings, { active: false, integrated: false })
    expect(await report()).toBe(404)
    const external = await maintainer.patch(settings, { active: true })
    expect([external.status, JSON.stringify(external.body)]).toEqual([
      400,
      expect.stringContaining('Api url is a required field'),
    ])
    for (const [body, error] of [
      [{}, 'active is missing, integrated is missing'],
      [{ active: '', integrated: true }, 'active is empty'],
      [{ active: true, integrated: 'external' }, 'integrated is invalid'],
      [{ active: [true], integrated: true }, 'active is invalid'],
    ] as const) {
      const refused = await maintainer.put(settings, body)
      expect([refused.status, refused.body]).toEqual([400, { error }])
    }
    expect((await developer.get(settings)).status).toBe(403)
    expect((await developer.put(settings, { active: true, integrated: true })).status).toBe(403)
  })

  test('has keys that are made, paged and deleted, and another when the last is gone', async () => {
    const one = await reportedProject(world, ana, 'keyed')
    await addPeople(one.id)
    const path = `${one.api}/error_tracking/client_keys`
    const made = await maintainer.post(path)
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        active: true,
        public_key: expect.stringMatching(/^svcet_[0-9a-f]{32}$/),
        sentry_dsn: expect.stringContaining(`//${made.body.public_key}@`),
      },
    ])
    const page = await maintainer.get(`${path}?per_page=1&page=2`)
    expect([page.body, page.headers.get('x-total')]).toEqual([[made.body], '2'])
    const [first] = (await maintainer.get(path)).body
    const gone = await maintainer.delete(`${path}/${first.id}`)
    expect([gone.status, gone.body]).toEqual([200, first])
    expect((await one.report(exampleEvent())).status).toBe(404)
    expect((await maintainer.delete(`${path}/${made.body.id}`)).status).toBe(200)
    expect((await maintainer.get(path)).body).toEqual([])
    await maintainer.patch(`${one.api}/error_tracking/settings`, { active: true })
    const [fresh] = (await maintainer.get(path)).body
    expect(fresh.public_key).not.toBe(made.body.public_key)
    for (const method of ['GET', 'POST'])
      expect((await developer.call(method, path)).status).toBe(403)
    const other = await reportedProject(world, ana, 'keyed-too')
    const foreign = `${other.api}/error_tracking/client_keys/${fresh.id}`
    expect((await ana.delete(foreign)).status).toBe(404)
  })

  test('lists errors by status, search and order, and refuses unknown ones', async () => {
    const one = await reportedProject(world, ana, 'listed')
    await addPeople(one.id)
    const raise = (type: string, timestamp: string, value = 'odd') =>
      one.report(
        exampleEvent({ timestamp, exception: { values: [exampleException({ type, value })] } }),
      )
    await raise('KeyError', '2026-05-04T09:00:00Z', 'a_b')
    await raise('TypeError', '2026-05-04T09:10:00Z', 'aXb')
    await raise('KeyError', '2026-05-04T09:20:00Z', 'a_b')
    await raise('ValueError', '2026-05-04T09:15:00Z')
    await world.runTasks()
    const path = `${one.api}/error_tracking/errors`
    const types = async (query: string) =>
      (await reporter.get(`${path}?${query}`)).body.map((error: { type: string }) => error.type)
    expect(await types('')).toEqual(['KeyError', 'ValueError', 'TypeError'])
    expect(await types('sort=first_seen')).toEqual(['ValueError', 'TypeError', 'KeyError'])
    expect((await types('sort=frequency'))[0]).toBe('KeyError')
    expect(await types('query=a_b')).toEqual(['KeyError'])
    expect(await types('query=valueerror')).toEqual(['ValueError'])
    expect(await types('query=none')).toEqual([])
    const [{ id }] = (await reporter.get(`${path}?query=TypeError`)).body
    expect((await reporter.put(`${path}/${id}`, { status: 'resolved' })).status).toBe(403)
    for (const status of ['ignored', 'resolved', 'unresolved']) {
      expect((await developer.put(`${path}/${id}`, { status })).body.status).toBe(status)
      expect(await types(`status=${status}&query=TypeError`)).toEqual(['TypeError'])
    }
    expect((await reporter.get(`${path}?status=gone`)).body).toEqual(noValue('status'))
    expect((await reporter.get(`${path}?sort=last_seen_desc`)).body).toEqual(noValue('sort'))
    expect((await reporter.get(`${path}?per_page=0`)).status).toBe(400)
    expect((await reporter.get(`${path}?cursor=x`)).body).toEqual({ error: 'cursor is invalid' })
    expect((await developer.put(`${path}/${id}`, {})).body).toEqual({
      error: 'status, issue_iid are missing, at least one parameter must be provided',
    })
    expect((await developer.put(`${path}/${id}`, { status: 'done' })).body).toEqual(
      noValue('status'),
    )
    expect((await developer.put(`${path}/${id}`, { issue_iid: 99 })).status).toBe(404)
    expect((await developer.get(`${path}/999999`)).body).toEqual({ message: '404 Error Not Found' })
  })
})
