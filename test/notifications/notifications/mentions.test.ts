import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendNotice } from '../../../src/notifications/notifications/notification.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let smtp: MailServer
let world: World
let ana: Caller
let bob: Caller
let cat: Caller
let group: number
let project: number
let issues: string
let count = 0

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' })
  ana = await world.user('ana')
  group = (await createGroup(ana, 'crew')).id
})
beforeEach(async () => {
  count += 1
  world.setNow(`2026-05-04T10:${String(count).padStart(2, '0')}:00.000Z`)
  bob = await world.user(`bob${count}`)
  cat = await world.user(`cat${count}`)
  project = (await createProject(ana, `mail${count}`, { namespace_id: group })).id
  issues = `/projects/${project}/issues`
  for (const user of [bob, cat]) await addMember(world, project, user.id, 30)
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

/** What somebody gets by what is done, as the first line of each mail. */
async function mailsOf(who: Caller, act: () => Promise<{ status: number }>): Promise<string[]> {
  await world.runTasks()
  smtp.clear()
  expect((await act()).status).toBeLessThan(300)
  await world.runTasks()
  const reasons = smtp.to(`${who.username}@example.com`)
  return reasons.map((mail) => /^X-Svc-NotificationReason: (.*)$/im.exec(mail)?.[1] ?? '')
}

const choose = (who: Caller, at: string, body: object) =>
  who.put(`${at}/notification_settings`, body)
const open = (more: object = {}) => ana.post(issues, { title: 'It breaks', ...more })
const say = (body: string, who = ana) => who.post(`${issues}/1/notes`, { body })

describe('at the level mention', () => {
  beforeEach(() => choose(bob, `/projects/${project}`, { level: 'mention' }))

  test('mails come with the very text that mentions', async () => {
    const description = `What does @${bob.username} think?`
    expect(await mailsOf(bob, () => open({ description }))).toEqual(['mentioned'])
    expect(await mailsOf(bob, () => say('No answer?'))).toEqual([])
    expect(await mailsOf(bob, () => say(`@${bob.username} then?`))).toEqual(['mentioned'])
    const close = () => ana.put(`${issues}/1`, { state_event: 'close' })
    expect(await mailsOf(bob, close)).toEqual([])
  })

  test('a title mentions too, and an edit that begins to', async () => {
    expect(await mailsOf(bob, () => open({ title: `For @${bob.username}` }))).toEqual(['mentioned'])
    expect(await mailsOf(cat, () => open())).toEqual([])
    world.setNow('2026-05-05T10:00:00.000Z')
    const edit = { description: `Ask @${cat.username}` }
    await choose(cat, `/projects/${project}`, { level: 'mention' })
    expect(await mailsOf(cat, () => ana.put(`${issues}/2`, edit))).toEqual(['mentioned'])
  })

  test('being assigned brings none', async () => {
    await open()
    const assign = { assignee_ids: [bob.id] }
    expect(await mailsOf(bob, () => ana.put(`${issues}/1`, assign))).toEqual([])
    expect(await mailsOf(bob, () => say('to whom it is assigned'))).toEqual([])
  })
})

describe('whoever is mentioned', () => {
  test('takes part from then on', async () => {
    await open()
    expect(await mailsOf(bob, () => say('nobody yet'))).toEqual([])
    expect(await mailsOf(bob, () => say(`@${bob.username} please`))).toEqual(['mentioned'])
    expect(await mailsOf(bob, () => say('and more'))).toEqual(['mentioned'])
  })

  test('by a group of theirs gets mail of it, of an issue and of a comment', async () => {
    const dora = await world.user(`dora${count}`)
    await ana.post(`/groups/${group}/members`, { user_id: dora.id, access_level: 30 })
    expect(await mailsOf(dora, () => open({ description: 'All of @crew!' }))).toEqual(['mentioned'])
    expect(await mailsOf(dora, () => say('and once more, @crew'))).toEqual(['mentioned'])
    expect(await mailsOf(dora, () => say('`@crew`'))).toEqual([])
  })

  test('gets mail of it although they had unsubscribed, but not of what follows', async () => {
    await open({ assignee_ids: [bob.id] })
    await bob.post(`${issues}/1/unsubscribe`)
    expect(await mailsOf(bob, () => say('anybody?'))).toEqual([])
    expect(await mailsOf(bob, () => say(`@${bob.username}?`))).toEqual(['assigned'])
    expect(await mailsOf(bob, () => say('anybody?'))).toEqual([])
  })

  test('gets no mail where mails are disabled, or without the right to read', async () => {
    await choose(bob, `/projects/${project}`, { level: 'disabled' })
    const description = `@${bob.username}`
    expect(await mailsOf(bob, () => open({ description, assignee_ids: [bob.id] }))).toEqual([])
    const stranger = await world.user(`stranger${count}`)
    expect(await mailsOf(stranger, () => say(`@${stranger.username}`))).toEqual([])
    await world.root.post(`/users/${cat.id}/block`)
    expect(await mailsOf(cat, () => say(`@${cat.username}`))).toEqual([])
  })
})

describe('the setting that counts', () => {
  test('is that of the project, else of the group, else of everywhere', async () => {
    await bob.put('/notification_settings', { level: 'watch' })
    expect(await mailsOf(bob, () => open())).toEqual(['watching'])
    await choose(bob, `/groups/${group}`, { level: 'participating' })
    expect(await mailsOf(bob, () => open())).toEqual([])
    await choose(bob, `/projects/${project}`, { level: 'watch' })
    expect(await mailsOf(bob, () => open())).toEqual(['watching'])
    await choose(bob, `/projects/${project}`, { level: 'global' })
    expect(await mailsOf(bob, () => open())).toEqual([])
    await choose(bob, `/groups/${group}`, { level: 'global' })
    expect(await mailsOf(bob, () => open())).toEqual(['watching'])
  })

  test('custom brings what was chosen, besides what one takes part in', async () => {
    await choose(bob, `/projects/${project}`, { level: 'custom', close_issue: true })
    expect(await mailsOf(bob, () => open())).toEqual([])
    const change = (state_event: string) => () => ana.put(`${issues}/1`, { state_event })
    expect(await mailsOf(bob, change('close'))).toEqual(['watching'])
    expect(await mailsOf(bob, change('reopen'))).toEqual([])
    await say('I care', bob)
    expect(await mailsOf(bob, change('close'))).toEqual(['subscribed'])
    expect(await mailsOf(bob, change('reopen'))).toEqual(['subscribed'])
  })

  test('what was chosen does nothing at another level', async () => {
    await choose(bob, `/projects/${project}`, { level: 'participating', new_issue: true })
    expect(await mailsOf(bob, () => open())).toEqual([])
    await choose(bob, `/projects/${project}`, { level: 'custom' })
    expect(await mailsOf(bob, () => open())).toEqual(['watching'])
  })

  test('is nothing where a group above wants no mails', async () => {
    await ana.put(`/groups/${group}`, { emails_enabled: false })
    expect(await mailsOf(bob, () => open({ assignee_ids: [bob.id] }))).toEqual([])
    await ana.put(`/groups/${group}`, { emails_enabled: true })
    expect(await mailsOf(bob, () => open({ assignee_ids: [bob.id] }))).toEqual(['assigned'])
  })
})

test('mails go to the address that was chosen for them', async () => {
  const other = `other${count}@example.org`
  await world.root.post(`/users/${bob.id}/emails`, { email: other, skip_confirmation: true })
  const set = await bob.put('/notification_settings', { notification_email: other })
  expect([set.status, set.body.notification_email]).toEqual([200, other])
  expect(await mailsOf(bob, () => open({ assignee_ids: [bob.id] }))).toEqual([])
  expect(smtp.to(other)).toHaveLength(1)
})

test('mails go to the first address again when the chosen one is removed', async () => {
  const other = `gone${count}@example.org`
  const emails = `/users/${bob.id}/emails`
  const { body } = await world.root.post(emails, { email: other, skip_confirmation: true })
  await bob.put('/notification_settings', { notification_email: other })
  expect((await bob.delete(`/user/emails/${body.id}`)).status).toBe(204)
  const first = `${bob.username}@example.com`
  expect((await bob.get('/notification_settings')).body.notification_email).toBe(first)
  expect(await mailsOf(bob, () => open({ assignee_ids: [bob.id] }))).toEqual(['assigned'])
  expect(smtp.to(other)).toEqual([])
})

test('who follows a label gets mail of issues with it, until they stop', async () => {
  await ana.post(`/projects/${project}/labels`, { name: 'hot', color: 'red' })
  await bob.post(`/projects/${project}/labels/hot/subscribe`)
  expect(await mailsOf(bob, () => open())).toEqual([])
  expect(await mailsOf(bob, () => open({ labels: 'hot' }))).toEqual(['subscribed'])
  await bob.post(`/projects/${project}/labels/hot/unsubscribe`)
  expect(await mailsOf(bob, () => open({ labels: 'hot' }))).toEqual([])
})

test('who subscribes takes part without a note', async () => {
  await open()
  await bob.post(`${issues}/1/subscribe`)
  expect(await mailsOf(bob, () => say('news'))).toEqual(['subscribed'])
  expect(await mailsOf(bob, () => say('of mine', bob))).toEqual([])
})

test('a mail that waited leaves out what its reader may not see any more', async () => {
  const guest = await world.user(`guest${count}`)
  await addMember(world, project, guest.id, 10)
  const { body } = await open({ description: 'between us' })
  await world.runTasks()
  smtp.clear()
  const notification = {
    project_id: project,
    type: 'Issue',
    id: body.id,
    event: 'new_issue',
    author_id: ana.id,
    note_id: null,
    only: null,
    about: [] as number[],
    at: world.ctx.now(),
  } as const
  const notice = { notification, user_id: guest.id, email: null, reason: 'subscribed' } as const
  const sent = async () => {
    await world.ctx.work.enqueue(world.ctx.db, sendNotice, notice)
    await world.runTasks()
    return smtp.to(`${guest.username}@example.com`).length
  }
  expect(await sent()).toBe(1)
  await ana.put(`${issues}/1`, { confidential: true })
  expect(await sent()).toBe(1)
  await ana.put(`${issues}/1`, { confidential: false })
  expect(await sent()).toBe(2)
  await ana.delete(`/projects/${project}/members/${guest.id}`)
  expect(await sent()).toBe(2)
})

test('a text that cannot be rendered is mailed as it was written', async () => {
  const description = `begin ${'words '.repeat(170_000)}`
  const mails = () => mailsOf(bob, () => open({ description, assignee_ids: [bob.id] }))
  expect(await mails()).toEqual(['assigned'])
  expect(smtp.to(`${bob.username}@example.com`)[0]).toContain('<p>begin words words')
})
