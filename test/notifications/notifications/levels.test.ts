import { afterAll, beforeAll, expect, test } from 'vitest'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { EVENTS } from '../../../src/notifications/notification-settings/levels.ts'
import { remindOfDueIssues } from '../../../src/notifications/notifications/due-tasks.ts'
import { createGroup } from '../../support/create.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

/*
 * Each event that mails are sent for, once: who follows the project at each level, and takes no part in what happens.
 */

let smtp: MailServer
let world: World
let ana: Caller
let bob: Caller
let bench: Bench
let at: string
let issue: string
let request: string
let minute = 0
const people = new Map<string, Caller>()
const LEVELS = ['watch', 'participating', 'mention', 'disabled', 'global'] as const

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' }, { background: false })
  ana = await world.user('ana')
  bob = await world.user('bob')
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, bob.id, 30)
  for (const level of LEVELS) {
    const person = await world.user(`at-${level}`)
    people.set(level, person)
    await addMember(world, bench.project.id, person.id, 30)
    await person.put(`${at}/notification_settings`, { level })
  }
  for (const name of ['only', 'but']) {
    const person = await world.user(`at-${name}`)
    people.set(name, person)
    await addMember(world, bench.project.id, person.id, 30)
  }
  // Who acts gets no mail of what they did; what they take part in is not the subject here.
  const [file = ''] = world.ctx.config.vendor.ciFiles
  bench.commit('main', { [file]: 'x: {script: make}' })
  await ana.post(`${at}/issues`, { title: 'Subject' })
  issue = `${at}/issues/1`
  bench.commit('topic', { 'a.txt': 'a' })
  const opened = await bench.open('topic')
  request = `${bench.api}/${opened.body.iid}`
  await world.runTasks()
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

type Event = (typeof EVENTS)[number]

async function endPipeline(status: 'success' | 'failed') {
  const { body } = await ana.post(`${at}/pipeline`, { ref: 'main' })
  await world.runTasks()
  const [job] = (await ana.get(`${at}/pipelines/${body.id}/jobs`)).body
  const named = { id: job.id, pipeline_id: body.id }
  const end = status === 'failed' ? { status, reason: 'script_failure' } : { status }
  await endJob(world.ctx, named, end)
}

/** How each event is made to happen. */
const acts: Readonly<Record<Event, () => Promise<unknown>>> = {
  new_release: () => ana.post(`${at}/releases`, { tag_name: 'v1', ref: 'main' }),
  new_note: () => ana.post(`${issue}/notes`, { body: 'A note' }),
  new_issue: () => ana.post(`${at}/issues`, { title: 'Another' }),
  close_issue: () => ana.put(issue, { state_event: 'close' }),
  reopen_issue: () => ana.put(issue, { state_event: 'reopen' }),
  reassign_issue: () => ana.put(issue, { assignee_ids: [bob.id] }),
  issue_due: async () => {
    const tomorrow = new Date(Date.parse(world.ctx.now()) + 86_400_000).toISOString().slice(0, 10)
    await ana.put(issue, { due_date: tomorrow })
    await world.ctx.work.enqueue(world.ctx.db, remindOfDueIssues, {})
  },
  new_merge_request: async () => {
    bench.commit('other', { 'b.txt': 'b' })
    await bench.open('other')
  },
  push_to_merge_request: () =>
    ana.post(`${at}/repository/files/c.txt`, {
      branch: 'topic',
      commit_message: 'More',
      content: 'c',
    }),
  close_merge_request: () => ana.put(request, { state_event: 'close' }),
  reopen_merge_request: () => ana.put(request, { state_event: 'reopen' }),
  reassign_merge_request: () => ana.put(request, { assignee_ids: [bob.id] }),
  change_reviewer_merge_request: () => ana.put(request, { reviewer_ids: [bob.id] }),
  merge_merge_request: () => ana.put(`${request}/merge`),
  failed_pipeline: () => endPipeline('failed'),
  fixed_pipeline: () => endPipeline('success'),
  success_pipeline: () => endPipeline('success'),
  moved_project: async () => {
    const { id } = await createGroup(ana, 'home')
    await ana.put(`${at}/transfer`, { namespace: id })
  },
  merge_when_pipeline_succeeds: async () => undefined,
  approver: async () => undefined,
}

/** What watching brings, but for the four events that it leaves out. */
const NOT_WATCHED: readonly Event[] = ['push_to_merge_request', 'issue_due', 'success_pipeline']

/** In an order in which each can happen after the one before. */
const order: readonly Event[] = [
  'new_issue',
  'new_note',
  'close_issue',
  'reopen_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'close_merge_request',
  'reopen_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'new_release',
  'moved_project',
]

async function choose(event: Event) {
  const all = (value: boolean) => Object.fromEntries(EVENTS.map((name) => [name, value]))
  const settings = `${at}/notification_settings`
  const only = { level: 'custom', ...all(false), [event]: true }
  const but = { level: 'custom', ...all(true), [event]: false }
  expect((await people.get('only')?.put(settings, only))?.status).toBe(200)
  expect((await people.get('but')?.put(settings, but))?.status).toBe(200)
}

/** How many mails whoever follows the project at this level got. */
function mailsAt(name: string): number {
  return smtp.to(`at-${name}@example.com`).length
}

test.each(order)('%s is mailed at the levels that bring it, and at no other', async (event) => {
  await choose(event)
  minute += 10
  world.setNow(new Date(Date.UTC(2026, 4, 4, 10, minute)).toISOString())
  await world.runTasks()
  smtp.clear()
  await acts[event]()
  await world.runTasks()
  await world.runTasks()
  const got = Object.fromEntries([...LEVELS, 'only', 'but'].map((name) => [name, mailsAt(name)]))
  expect({ event, ...got }).toEqual({
    event,
    watch: NOT_WATCHED.includes(event) ? 0 : 1,
    participating: 0,
    mention: 0,
    disabled: 0,
    global: 0,
    only: 1,
    but: 0,
  })
})

test('a level of the group above holds where the project says global, and no mail where it is disabled', async () => {
  const { body: project } = await ana.get(at)
  const group = `/groups/${project.namespace.id}/notification_settings`
  const atGlobal = people.get('global')
  await ana.post(`/groups/${project.namespace.id}/members`, {
    user_id: atGlobal?.id,
    access_level: 30,
  })
  const count = async () => {
    minute += 10
    world.setNow(new Date(Date.UTC(2026, 4, 4, 10, minute)).toISOString())
    smtp.clear()
    await ana.post(`${at}/issues`, { title: `At ${minute}` })
    await world.runTasks()
    return smtp.to('at-global@example.com').filter((mail) => mail.includes(`At ${minute}`)).length
  }
  await world.runTasks()
  expect(await count()).toBe(0)
  await atGlobal?.put(group, { level: 'watch' })
  expect(await count()).toBe(1)
  await atGlobal?.put(group, { level: 'global' })
  await atGlobal?.put('/notification_settings', { level: 'watch' })
  expect(await count()).toBe(1)
  await atGlobal?.put(group, { level: 'disabled' })
  expect(await count()).toBe(0)
  await atGlobal?.put(group, { level: 'custom', new_issue: true })
  expect(await count()).toBe(1)
  await ana.put(`/groups/${project.namespace.id}`, { emails_enabled: false })
  expect(await count()).toBe(0)
  await ana.put(`/groups/${project.namespace.id}`, { emails_enabled: true })
  await ana.put(at, { emails_enabled: false })
  expect(await count()).toBe(0)
})
