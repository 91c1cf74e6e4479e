import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { readPayload } from '../../src/monitoring/errors/payload.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { exampleEvent, exampleException, reportedProject } from './errors.ts'

const world = useWorld({ errorEventsPerMinute: 0 }, { background: false })
const ana = useCaller(world, 'ana')

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
