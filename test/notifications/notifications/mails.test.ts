import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let smtp: MailServer
let world: World
let ana: Caller
let bob: Caller
let cleo: Caller
let guest: Caller
let project: TestProject
let count = 0

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' })
  ana = await world.user('ana')
  bob = await world.user('bob')
  cleo = await world.user('cleo')
  guest = await world.user('guest')
})
beforeEach(async () => {
  await world.runTasks()
  count += 1
  project = await addProject(world, ana, 'basic', { path: `mail${count}` })
  await addMember(world, project, bob, 30)
  await addMember(world, project, cleo, 30)
  await addMember(world, project, guest, 10)
  smtp.clear()
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

let minute = 0
/** Time passes: what follows did not happen when the thing was made. */
function tick(): void {
  minute += 1
  world.setNow(`2026-05-04T10:${String(minute).padStart(2, '0')}:00.000Z`)
}

const issuesOf = () => `/projects/${project.id}/issues`
const subjects = (who: Caller) =>
  smtp
    .to(`${who.username}@example.com`)
    .map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1] ?? '')
    .sort()

describe('mails about issues', () => {
  test('go to those who take part, in one thread, and never to who did it', async () => {
    const issue = (
      await ana.post(issuesOf(), {
        title: 'It breaks',
        description: 'See **this**, @cleo',
        assignee_ids: [bob.id],
      })
    ).body
    await world.runTasks()
    const first = await smtp.wait('bob@example.com', 'It breaks (#1)')
    expect(first).toContain(`Message-ID: <issue_${issue.id}@`)
    expect(first).toContain('From: ana <git@example.com>')
    expect(first).toMatch(/^X-Svc-Project-Path: /im)
    expect(first).toMatch(/^X-Svc-NotificationReason: assigned$/im)
    expect(first).toMatch(/^X-Svc-Issue-IID: 1$/im)
    expect(first).toMatch(new RegExp(`^List-Id: ${project.fullPath} <`, 'im'))
    expect(first).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    expect(first).toContain('Content-Type: text/html')
    expect(first).toContain('<strong>this</strong>')
    expect(subjects(cleo)).toEqual([`mail${count} | It breaks (#1)`])
    expect(subjects(ana)).toEqual([])
    expect(subjects(guest)).toEqual([])
    smtp.clear()
    await bob.post(`${issuesOf()}/1/notes`, { body: 'I look at it' })
    await world.runTasks()
    const reply = await smtp.wait('ana@example.com', 'Re: mail')
    expect(reply).toContain(`In-Reply-To: <issue_${issue.id}@`)
    expect(reply).toContain(`References: <issue_${issue.id}@`)
    expect(reply).toContain('I look at it')
    expect(subjects(bob)).toEqual([])
  })

  test('come once for closing, reopening and assigning', async () => {
    await ana.post(issuesOf(), { title: 'One' })
    await world.runTasks()
    smtp.clear()
    tick()
    await bob.put(`${issuesOf()}/1`, { assignee_ids: [cleo.id] })
    await world.runTasks()
    expect(subjects(cleo)).toEqual([`Re: mail${count} | One (#1)`])
    expect(smtp.to('cleo@example.com')[0]).toContain('bob assigned issue #1 to you.')
    expect(subjects(ana)).toEqual([`Re: mail${count} | One (#1)`])
    expect(smtp.to('ana@example.com')[0]).toContain('bob assigned issue #1 to cleo.')
    smtp.clear()
    await bob.put(`${issuesOf()}/1`, { state_event: 'close' })
    await world.runTasks()
    expect(smtp.to('ana@example.com')).toHaveLength(1)
    expect(smtp.to('cleo@example.com')).toHaveLength(1)
    expect(smtp.to('cleo@example.com')[0]).toContain('bob closed issue #1.')
  })

  test('that are confidential reach only those who may read them', async () => {
    await guest.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
    await cleo.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
    await ana.post(issuesOf(), { title: 'Secret', confidential: true, description: '@guest look' })
    await world.runTasks()
    expect(subjects(cleo)).toEqual([`mail${count} | Secret (#1)`])
    expect(subjects(guest)).toEqual([])
    await ana.post(issuesOf(), { title: 'Open' })
    await world.runTasks()
    expect(subjects(guest)).toEqual([`mail${count} | Open (#2)`])
    smtp.clear()
    await ana.post(`${issuesOf()}/2/notes`, { body: 'Among us', internal: true })
    await world.runTasks()
    expect(smtp.to('cleo@example.com')).toHaveLength(1)
    expect(subjects(guest)).toEqual([])
  })

  test('follow the level: disabled, mention, watch and custom', async () => {
    const level = (who: Caller, body: object) =>
      who.put(`/projects/${project.id}/notification_settings`, body)
    await level(bob, { level: 'disabled' })
    await level(cleo, { level: 'custom', new_issue: true })
    await level(guest, { level: 'mention' })
    await ana.post(issuesOf(), { title: 'Two', assignee_ids: [bob.id, guest.id] })
    await world.runTasks()
    expect([subjects(bob).length, subjects(cleo).length, subjects(guest).length]).toEqual([0, 1, 0])
    await ana.post(`${issuesOf()}/1/notes`, { body: 'Look, @guest' })
    await world.runTasks()
    expect([subjects(bob).length, subjects(cleo).length, subjects(guest).length]).toEqual([0, 1, 1])
  })

  test('end by the link of a mail, by a button', async () => {
    await ana.post(issuesOf(), { title: 'Three', assignee_ids: [bob.id] })
    await world.runTasks()
    const mail = await smtp.wait('bob@example.com', 'Three')
    const path = /List-Unsubscribe: <[^>]*?(\/-\/sent_notifications\/[^>]+)>/.exec(mail)?.[1] ?? ''
    const stored = await world.ctx.db.selectFrom('sent_notifications').select('digest').execute()
    expect(stored.length).toBeGreaterThan(0)
    const page = await fetch(`${world.url}${path}`)
    expect(page.status).toBe(200)
    smtp.clear()
    const note = async () => {
      await ana.post(`${issuesOf()}/1/notes`, { body: 'More' })
      await world.runTasks()
      return smtp.to('bob@example.com').length
    }
    expect(await note()).toBe(1)
    const done = await fetch(`${world.url}${path}`, { method: 'POST' })
    expect(done.status).toBe(200)
    expect(await note()).toBe(1)
    const unknown = await fetch(`${world.url}/-/sent_notifications/none/unsubscribe`)
    expect(unknown.status).toBe(410)
  })

  test('are not sent where the project wants none', async () => {
    await ana.put(`/projects/${project.id}`, { emails_enabled: false })
    await ana.post(issuesOf(), { title: 'Quiet', assignee_ids: [bob.id] })
    await world.runTasks()
    expect(subjects(bob)).toEqual([])
  })
})

test('mails about merge requests are sent for reviews, approvals and merges', async () => {
  await ana.post(`${project.api}/branches`, { branch: 'work', ref: 'main' })
  await ana.post(`${project.api}/commits`, {
    branch: 'work',
    commit_message: 'Work',
    actions: [{ action: 'create', file_path: 'w.txt', content: 'w' }],
  })
  const path = `/projects/${project.id}/merge_requests`
  await ana.post(path, { title: 'Work', source_branch: 'work', target_branch: 'main' })
  await world.runTasks()
  smtp.clear()
  tick()
  await ana.put(`${path}/1`, { reviewer_ids: [bob.id] })
  await world.runTasks()
  expect(smtp.to('bob@example.com')[0]).toContain('ana asked you to review merge request !1.')
  smtp.clear()
  await bob.post(`${path}/1/approve`)
  await world.runTasks()
  expect(smtp.to('ana@example.com')[0]).toContain('bob approved merge request !1.')
  smtp.clear()
  await ana.put(`${path}/1/merge`)
  await world.runTasks()
  expect(smtp.to('bob@example.com').join()).toContain('ana merged merge request !1')
})

test('mails about pipelines go to who ran them, and to those who chose so', async () => {
  await ana.post(`${project.api}/commits`, {
    branch: 'main',
    commit_message: 'CI',
    actions: [{ action: 'create', file_path: '.svc-ci.yml', content: 'x: {script: y}' }],
  })
  await cleo.put(`/projects/${project.id}/notification_settings`, {
    level: 'custom',
    success_pipeline: true,
  })
  const { endJob } = await import('../../../src/ci/pipelines/process/change-jobs.ts')
  const run = async (status: 'failed' | 'success') => {
    const { id } = (await bob.post(`/projects/${project.id}/pipeline`, { ref: 'main' })).body
    const [job] = (await bob.get(`/projects/${project.id}/pipelines/${id}/jobs`)).body
    const end = { status, reason: 'script_failure' }
    await endJob(world.ctx, { id: job.id, pipeline_id: id }, end)
    await world.runTasks()
  }
  await run('failed')
  expect(subjects(bob)).toEqual([expect.stringContaining('Pipeline failed for main')])
  await run('success')
  expect(subjects(bob)).toContainEqual(expect.stringContaining('Pipeline was fixed for main'))
  smtp.clear()
  await run('success')
  expect(subjects(bob)).toEqual([])
  expect(subjects(cleo)).toEqual([expect.stringContaining('Pipeline passed for main')])
})

describe('mails about access', () => {
  test('are sent for what was granted, asked for and denied', async () => {
    const dora = await world.user(`dora${count}`)
    await ana.put(`/projects/${project.id}`, { visibility: 'public' })
    await dora.post(`/projects/${project.id}/access_requests`)
    await world.runTasks()
    await ana.delete(`/projects/${project.id}/access_requests/${dora.id}`)
    await world.runTasks()
    expect(subjects(dora)).toEqual([expect.stringContaining('was denied')])
    await ana.post(`/projects/${project.id}/members`, { user_id: dora.id, access_level: 30 })
    await world.runTasks()
    const granted = await smtp.wait(`${dora.username}@example.com`, 'was granted')
    expect(granted).toContain(`You are now Developer of the project`)
    const group = await createGroup(ana, `g${count}`, { visibility: 'public' })
    await dora.post(`/groups/${group.id}/access_requests`)
    await world.runTasks()
    expect(subjects(ana)).toContainEqual(`dora${count} asks for access to G${count}`)
  })

  test('warn once of tokens and memberships that end within a week', async () => {
    const ends = '2026-05-10'
    await ana.post(`/projects/${project.id}/members`, {
      user_id: (await world.user(`eli${count}`)).id,
      access_level: 20,
      expires_at: ends,
    })
    await world.root.post(`/users/${bob.id}/personal_access_tokens`, {
      name: 'deploying',
      scopes: ['api'],
      expires_at: ends,
    })
    await world.ctx.work.enqueue(
      world.ctx.db,
      (await import('../../../src/notifications/notifications/expiring-tasks.ts')).warnOfExpiry,
      {},
    )
    await world.runTasks()
    const warned = () => subjects(bob).filter((one) => one.includes('deploying'))
    expect(warned()).toEqual([`Your access token deploying ends on ${ends}`])
    expect(smtp.to(`eli${count}@example.com`).join()).toContain(`ends on ${ends}`)
    await world.ctx.work.enqueue(
      world.ctx.db,
      (await import('../../../src/notifications/notifications/expiring-tasks.ts')).warnOfExpiry,
      {},
    )
    await world.runTasks()
    expect(warned()).toHaveLength(1)
  })
})

test('a release is mailed to those who watch', async () => {
  await cleo.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  await ana.post(`/projects/${project.id}/releases`, { tag_name: 'v9', ref: 'main', name: 'Nine' })
  await world.runTasks()
  expect(subjects(cleo)).toEqual([`mail${count} | Release Nine`])
  expect(subjects(bob)).toEqual([])
})
