import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let smtp: MailServer
let world: World
let ana: Caller
let bob: Caller

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' })
  ana = await world.user('ana')
  bob = await world.user('bob')
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

async function project(name: string): Promise<string> {
  const { id } = await createProject(ana, name)
  await addMember(world, id, bob.id, 30)
  await ana.post(`/projects/${id}/issues`, { title: 'x', assignee_ids: [bob.id] })
  await world.runTasks()
  return `/projects/${id}/issues`
}

/** How many mails a comment brings. */
async function mailsOf(who: Caller, issues: string): Promise<number> {
  smtp.clear()
  const author = who === ana ? bob : ana
  expect((await author.post(`${issues}/1/notes`, { body: 'more' })).status).toBe(201)
  await world.runTasks()
  return smtp.to(`${who.username}@example.com`).length
}

test('one project brings somebody a thousand mails a day, and no more', async () => {
  const [busy, calm] = [await project('busy'), await project('calm')]
  const { body: issue } = await ana.get(`${busy}/1`)
  const sent = Array.from({ length: 997 }, (_, n) => ({
    digest: Buffer.from(`mail ${n}`),
    user_id: bob.id,
    subject_type: 'issue' as const,
    subject_id: issue.id,
    created_at: world.ctx.now(),
  }))
  await world.ctx.db.insertInto('sent_notifications').values(sent).execute()
  expect(await mailsOf(bob, busy)).toBe(1)
  expect(await mailsOf(bob, busy)).toBe(1)
  expect(await mailsOf(bob, busy)).toBe(0)
  // Neither other projects nor other people have less for it.
  expect(await mailsOf(bob, calm)).toBe(1)
  expect(await mailsOf(ana, busy)).toBe(1)
  world.setNow('2026-05-05T10:00:01.000Z')
  expect(await mailsOf(bob, busy)).toBe(1)
})
