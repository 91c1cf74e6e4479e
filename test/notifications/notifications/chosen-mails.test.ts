import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Work } from '../../../src/background/queue.ts'
import { remindOfDueIssues } from '../../../src/notifications/notifications/due-tasks.ts'
import { createGroup } from '../../support/create.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { addMember } from '../../support/project.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let smtp: MailServer
let world: World
let ana: Caller
let bob: Caller
let cleo: Caller
let dora: Caller
let bench: Bench
let at: string

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' })
  ana = await world.user('ana')
  bob = await world.user('bob')
  cleo = await world.user('cleo')
  dora = await world.user('dora')
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  for (const user of [bob, cleo, dora]) await addMember(world, bench.project, user, 30)
  await cleo.put(`${at}/notification_settings`, {
    level: 'custom',
    push_to_merge_request: true,
    issue_due: true,
  })
  await dora.put(`${at}/notification_settings`, { level: 'watch' })
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

const mailsOf = (who: Caller, words: string) =>
  smtp.to(`${who.username}@example.com`).filter((mail) => mail.includes(words))

test('new commits of a merge request are mailed to who takes part, and who chose so', async () => {
  bench.commit('topic', { 'a.txt': 'a' })
  await bench.open('topic', { reviewer_ids: [bob.id] })
  smtp.clear()
  world.setNow('2026-05-04T11:00:00.000Z')
  const file = { branch: 'topic', commit_message: 'More', content: 'b' }
  expect((await ana.post(`${at}/repository/files/b.txt`, file)).status).toBe(201)
  await bench.read(1)
  expect(mailsOf(bob, 'ana pushed to merge request !1.')).toHaveLength(1)
  expect(mailsOf(cleo, 'ana pushed to merge request !1.')).toHaveLength(1)
  // Watching leaves pushes out, and nobody gets mail of their own.
  expect(mailsOf(dora, 'pushed to')).toEqual([])
  expect(mailsOf(ana, 'pushed to')).toEqual([])
})

test('issues that are due tomorrow are mailed to who takes part, and who chose so', async () => {
  world.setNow('2026-05-04T12:00:00.000Z')
  const make = (body: object) => ana.post(`${at}/issues`, body)
  await make({ title: 'tomorrow', due_date: '2026-05-05', assignee_ids: [bob.id] })
  await make({ title: 'later', due_date: '2026-05-06', assignee_ids: [bob.id] })
  const { body: done } = await make({ title: 'done', due_date: '2026-05-05' })
  await ana.put(`${at}/issues/${done.iid}`, { state_event: 'close' })
  await make({ title: 'hidden', due_date: '2026-05-05', confidential: true })
  const guest = await world.user('guest')
  await addMember(world, bench.project, guest, 10)
  await guest.put(`${at}/notification_settings`, { level: 'custom', issue_due: true })
  await world.runTasks()
  smtp.clear()
  world.setNow('2026-05-04T13:00:00.000Z')
  await world.ctx.work.enqueue(world.ctx.db, remindOfDueIssues, {})
  await world.runTasks()
  const due = (who: Caller) =>
    mailsOf(who, 'is due tomorrow.').map((mail) => /Issue #(\d+) is due/.exec(mail)?.[1])
  expect(due(bob)).toEqual(['1'])
  expect(due(ana).sort()).toEqual(['1', '4'])
  expect(due(cleo).sort()).toEqual(['1', '4'])
  expect(due(guest)).toEqual(['1'])
  expect(due(dora)).toEqual([])
})

test('however many issues are due, each is mailed once, batch after batch', async () => {
  world.setNow('2026-06-01T12:00:00.000Z')
  const { body: one } = await ana.post(`${at}/issues`, { title: 'one', due_date: '2026-06-02' })
  await world.runTasks()
  const { db } = world.ctx
  const { id, ...row } = await db
    .selectFrom('issues')
    .selectAll()
    .where('id', '=', one.id)
    .executeTakeFirstOrThrow()
  const more = Array.from({ length: 100 }, (_, i) => ({ ...row, iid: row.iid + i + 1 }))
  await db.insertInto('issues').values(more).execute()
  const enqueued: { readonly name: string; readonly payload: unknown }[] = []
  const work: Work = {
    async enqueue(_db, { name }, payload) {
      enqueued.push({ name, payload })
    },
  }
  const run = async (payload: unknown) => {
    const { signal } = new AbortController()
    const parsed = remindOfDueIssues.payload.parse(payload)
    await remindOfDueIssues.handler({ ...world.ctx, work }, parsed, signal)
    return enqueued.splice(0)
  }
  const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
  const first = await run({})
  const next = first.pop()
  expect(first).toMatchObject(ids(id, 100).map((id) => ({ payload: { id, event: 'issue_due' } })))
  expect(next?.name).toBe(remindOfDueIssues.name)
  // What is left after midnight is still mailed for that day.
  world.setNow('2026-06-02T00:00:01.000Z')
  expect(await run(next?.payload)).toMatchObject([{ payload: { id: id + 100 } }])
})

test('a new merge request is mailed to those whose approval its rules name, when they chose so', async () => {
  const users = [bob, cleo, dora]
  const approvers = await Promise.all(
    ['finn', 'gina'].map(async (name) => {
      const user = await world.user(name)
      await addMember(world, bench.project, user, 30)
      return user
    }),
  )
  const [finn, gina] = approvers as [Caller, Caller]
  await finn.put(`${at}/notification_settings`, { level: 'custom', approver: true })
  const rule = { name: 'Look', approvals_required: 1, user_ids: approvers.map((one) => one.id) }
  expect((await ana.post(`${at}/approval_rules`, rule)).status).toBe(201)
  smtp.clear()
  bench.commit('asks', { 'asks.txt': 'a' })
  await bench.open('asks')
  expect(mailsOf(finn, 'wants to merge asks into main')).toHaveLength(1)
  expect(mailsOf(gina, 'wants to merge')).toEqual([])
  expect(users.map((who) => mailsOf(who, 'wants to merge').length)).toEqual([0, 0, 1])
})

test('that a merge request is set to be merged by itself is mailed', async () => {
  await cleo.put(`${at}/notification_settings`, { merge_when_pipeline_succeeds: true })
  bench.commit('later', { 'later.txt': 'a' })
  const { body } = await bench.open('later', { assignee_id: bob.id })
  smtp.clear()
  const asked = await ana.put(`${bench.api}/${body.iid}/merge`, { auto_merge: true })
  expect(asked.body.merge_when_pipeline_succeeds).toBe(true)
  await world.runTasks()
  const words = `ana set merge request !${body.iid} to be merged`
  expect([ana, bob, cleo, dora].map((who) => mailsOf(who, words).length)).toEqual([0, 1, 1, 1])
})

test('that a project was moved is mailed to who follows it', async () => {
  await cleo.put(`${at}/notification_settings`, { moved_project: true })
  const group = await createGroup(ana, 'home')
  smtp.clear()
  const moved = await ana.put(`${at}/transfer`, { namespace: group.id })
  expect(moved.status).toBe(200)
  await world.runTasks()
  const words = `is at home/`
  expect([ana, bob, cleo, dora].map((who) => mailsOf(who, words).length)).toEqual([0, 0, 1, 1])
})
