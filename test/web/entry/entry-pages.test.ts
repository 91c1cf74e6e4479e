import { beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const hostile = '"><img src=x onerror=alert(1)>'
const world = useWorld()
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
let hers: Browser
let eves: Browser
let nobodys: Browser
let closed: TestProject

beforeAll(async () => {
  closed = await addProject(world, ana, 'basic', { path: 'closed' })
  await ana.post(`/projects/${closed.id}/issues`, { title: hostile, assignee_ids: [ana.id] })
  await ana.post(`/projects/${closed.id}/issues/1/todo`)
  hers = await signedInBrowser(world, ana)
  eves = await signedInBrowser(world, eve)
  nobodys = new Browser(world.url)
})

describe('home', () => {
  test('shows what waits for a person, and nothing of others', async () => {
    const page = await hers.get('/')
    expect([page.status, page.text.includes('<img src=x')]).toEqual([200, false])
    expect(page.text.match(/&quot;>&lt;img src=x/g)?.length).toBeGreaterThanOrEqual(2)
    expect(page.text).toContain('ana/closed')
    const others = await eves.get('/')
    expect(others.text).not.toContain('img src=x')
    expect(others.text).toContain('Nothing waits for you')
    expect((await nobodys.get('/')).status).toBe(302)
  })

  test.each(['todos', 'merge_requests', 'issues', 'projects'])(
    'has the list /dashboard/%s',
    async (name) => {
      expect((await hers.get(`/dashboard/${name}`)).status).toBe(200)
      expect((await nobodys.get(`/dashboard/${name}`)).status).toBe(302)
      expect((await hers.get(`/dashboard/${name}?page=none`)).status).toBe(400)
    },
  )

  test('a to-do is done by its button, and is nobody else’s', async () => {
    const [todo] = (await ana.get('/todos')).body
    const done = `/dashboard/todos/${todo.id}/done`
    await eves.submit(await eves.get('/'), done, {})
    expect((await ana.get('/todos')).body).toHaveLength(1)
    const sent = await submitForm(hers, '/dashboard/todos', done)
    expect([sent.status, sent.location]).toEqual([303, '/dashboard/todos'])
    expect((await ana.get('/todos')).body).toEqual([])
    expect((await hers.get('/dashboard/todos?state=done')).text).toContain('img src=x')
  })

  test('a star is given and taken back in the list', async () => {
    const stars = async () => (await ana.get('/projects?starred=true')).body.length
    await submitForm(hers, '/dashboard/projects', '/ana/closed/-/star')
    expect(await stars()).toBe(1)
    expect((await hers.get('/dashboard/projects?which=starred')).text).toContain('ana/closed')
    await submitForm(hers, '/dashboard/projects', '/ana/closed/-/unstar')
    expect(await stars()).toBe(0)
  })
})

describe('search', () => {
  const search = (browser: Browser, query: Record<string, string>) =>
    browser.get(`/search?${new URLSearchParams(query)}`)

  test('finds what the person may see, of every kind', async () => {
    for (const scope of ['projects', 'issues', 'merge_requests', 'milestones', 'users', 'groups']) {
      expect((await search(hers, { search: 'closed', scope })).status).toBe(200)
    }
    const found = await search(hers, { search: 'closed' })
    expect(found.text).toContain('href="/ana/closed"')
    expect((await search(eves, { search: 'closed' })).text).not.toContain('/ana/closed"')
    const strangers = await search(nobodys, { search: 'closed' })
    expect([strangers.status, strangers.text.includes('/ana/closed"')]).toEqual([200, false])
  })

  test('finds code, commits and comments in a project, and what was typed is text', async () => {
    const project_id = String(closed.id)
    await ana.post(`/projects/${closed.id}/issues/1/notes`, { body: `needle ${hostile}` })
    const notes = await search(hers, { search: 'needle', scope: 'notes', project_id })
    expect(notes.text).toContain('/ana/closed/-/issues/1#note_')
    expect(notes.text).not.toContain('<img src=x')
    const [word = ''] = /\w{4,}/.exec(closed.git('show', 'main:README.md')) ?? []
    const blobs = await search(hers, { search: word, scope: 'blobs', project_id })
    const [hit] = (await ana.get(`/projects/${closed.id}/search?scope=blobs&search=${word}`)).body
    const address = `"/ana/closed/-/blob/${hit.ref}/${hit.path}#L${hit.startline}"`
    expect(blobs.text).toContain(address)
    const commits = await search(hers, { search: 'a', scope: 'commits', project_id })
    expect(commits.status).toBe(200)
    expect((await search(hers, { search: hostile })).text).not.toContain('<img src=x')
    expect((await search(eves, { search: 'needle', scope: 'notes', project_id })).status).toBe(404)
  })

  test('is in reach on each page of a project, for what the page is about', async () => {
    const scopeAt = async (at: string) => {
      const { text } = await hers.get(`/ana/closed${at}`)
      const [form = ''] = /<form [^>]*class="find-here"[\s\S]*?<\/form>/.exec(text) ?? []
      expect(form).toContain(`name="project_id" value="${closed.id}"`)
      return /name="scope" value="(\w+)"/.exec(form)?.[1]
    }
    expect(await scopeAt('')).toBe('blobs')
    expect(await scopeAt('/-/commits/main')).toBe('commits')
    expect(await scopeAt('/-/merge_requests')).toBe('merge_requests')
    // A guest of a private project may not read its code.
    await addMember(world, closed, eve, 10)
    const { text } = await eves.get('/ana/closed')
    expect(text).toMatch(/class="find-here"[\s\S]*name="scope" value="issues"/)
    await ana.delete(`/projects/${closed.id}/members/${eve.id}`)
  })

  test('says what it may, and does not fail on what it cannot know', async () => {
    expect((await search(hers, {})).text).toContain('Type what you look for')
    expect((await search(hers, { search: 'x', scope: 'nothing' })).status).toBe(200)
    expect((await search(hers, { search: 'x', project_id: '999999' })).status).toBe(404)
  })
})

test('a profile shows what somebody did, as far as one may see it', async () => {
  const own = await hers.get('/users/ana?tab=activity')
  expect(own.text).toContain('ana/closed')
  expect(own.text).not.toContain('<img src=x')
  const others = await eves.get('/users/ana?tab=activity')
  expect([others.status, others.text.includes('ana/closed')]).toEqual([200, false])
  expect((await eves.get('/ana?tab=activity')).text).toContain('No activity to see')
})

test('a group lists what is below it, and its members to those who may see them', async () => {
  const group = await createGroup(ana, 'tools')
  await createGroup(ana, 'deep', { parent_id: group.id })
  await createProject(ana, 'Hammer', { namespace_id: group.id })
  await ana.post(`/groups/${group.id}/members`, { user_id: eve.id, access_level: 20 })
  const page = await eves.get('/tools')
  for (const text of ['tools/deep', 'tools/hammer', '/groups/tools/-/group_members']) {
    expect(page.text).toContain(text)
  }
  expect((await eves.get('/tools?name=hamm')).text).not.toContain('tools/deep')
  const members = await eves.get('/groups/tools/-/group_members')
  expect(members.text).toContain('@eve')
  expect(members.text).toContain('Owner')
  const nobody = await world.user('bob')
  const bobs = await signedInBrowser(world, nobody)
  expect((await bobs.get('/tools')).status).toBe(404)
  expect((await bobs.get('/groups/tools/-/group_members')).status).toBe(404)
  expect((await bobs.get('/explore/groups')).text).not.toContain('/tools')
  expect((await eves.get('/explore/groups')).text).toContain('/tools')
})

test('a group is made below another by its form', async () => {
  const { id } = (await ana.get('/groups/tools')).body
  const page = `/groups/new?parent_id=${id}`
  const made = await submitForm(hers, page, '/groups/new', { name: 'Below', path: 'below' })
  expect(made.location).toBe('/tools/below')
})

describe('broadcast messages', () => {
  const send = async (message: string, more = {}) =>
    (await world.root.post('/broadcast_messages', { message, ...more })).body.id
  const sees = async (browser: Browser, path: string, text: string) =>
    (await browser.get(path)).text.includes(text)

  test('stand on every page, as Markdown whose HTML is text', async () => {
    await send(`**Maintenance** ${hostile}`)
    const page = await nobodys.get('/explore')
    expect(page.text).toContain('<strong>Maintenance</strong>')
    expect(page.text).not.toContain('<img src=x')
    expect(await sees(nobodys, '/users/sign_in', 'Maintenance')).toBe(true)
    expect((await nobodys.get('/explore')).text).not.toContain('Dismiss this message')
  })

  test('go away once they were dismissed, in that browser alone, without script', async () => {
    const id = await send('Dismiss me', { dismissable: true })
    const gone = await submitForm(hers, '/explore', `/-/broadcast_messages/${id}/dismiss`)
    expect([gone.status, gone.location]).toEqual([303, '/explore'])
    expect(await sees(hers, '/explore', 'Dismiss me')).toBe(false)
    expect(await sees(eves, '/explore', 'Dismiss me')).toBe(true)
    expect(await sees(hers, '/help', 'Maintenance')).toBe(true)
  })

  test('keep to their paths, their time, and to the roles that they are for', async () => {
    await send('Only in closed', { target_path: 'ana/clos*' })
    expect(await sees(hers, '/ana/closed', 'Only in closed')).toBe(true)
    expect(await sees(hers, '/explore', 'Only in closed')).toBe(false)
    await send('For reporters', { target_access_levels: [20] })
    await addMember(world, closed, eve, 20)
    expect(await sees(eves, '/ana/closed/-/tree/main', 'For reporters')).toBe(true)
    expect(await sees(hers, '/ana/closed', 'For reporters')).toBe(false)
    expect(await sees(eves, '/explore', 'For reporters')).toBe(false)
    await send('Over', {
      starts_at: '2020-01-01T00:00:00Z',
      ends_at: '2020-01-02T00:00:00Z',
    })
    expect(await sees(hers, '/explore', 'Over')).toBe(false)
  })
})

test('a wrong password is typed again, the name stays', async () => {
  const at = '/users/sign_in'
  const focused = (html: string) => /<input[^>]*name="user\[(\w+)\]"[^>]*autofocus/.exec(html)?.[1]
  expect(focused((await nobodys.get(at)).text)).toBe('login')
  const fields = { 'user[login]': 'ana', 'user[password]': 'wrong' }
  const { text } = await submitForm(nobodys, at, at, fields)
  expect([focused(text), text.includes('value="ana"')]).toEqual(['password', true])
})
