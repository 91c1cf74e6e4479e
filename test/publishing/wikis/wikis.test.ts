import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../../notifications/hooks/receiver.ts'
import { createGroup } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({
  externalUrl: 'http://gitstead.example',
  outboundAllow: ['127.0.0.1'],
})
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let receiver: Receiver
let project: TestProject
let api: string

beforeAll(async () => {
  receiver = await openReceiver()
  project = await addProject(world, ana, 'basic', { visibility: 'public' })
  api = `/projects/${project.id}/wikis`
})
afterAll(() => receiver.close())

const at = (slug: string, base = api) => `${base}/${encodeURIComponent(slug)}`

async function page(title: string, content = 'text', more: Record<string, unknown> = {}) {
  const made = await ana.post(api, { title, content, ...more })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body
}

async function newProject(path: string) {
  const made = await addProject(world, ana, 'basic', { path, visibility: 'public' })
  return { id: made.id, api: `/projects/${made.id}/wikis` }
}

const folderOf = (id: number) => world.ctx.git.open({ kind: 'project_wiki', id }).path

describe('wiki pages', () => {
  test('of a project without any are none', async () => {
    const { api } = await newProject('blank')
    expect((await world.nobody.get(api)).body).toEqual([])
    expect((await ana.get(`${api}/home`)).body).toEqual({ message: '404 Wiki Page Not Found' })
    expect((await ana.put(`${api}/home`, { content: 'x' })).status).toBe(404)
    expect((await ana.delete(`${api}/home`)).status).toBe(404)
  })

  test('are made, listed, read, changed and deleted', async () => {
    const made = await page('First steps', '# Begin\n')
    expect(made).toEqual({
      format: 'markdown',
      slug: 'First-steps',
      title: 'First steps',
      content: '# Begin\n',
      encoding: 'UTF-8',
      front_matter: {},
    })
    expect((await world.nobody.get(at('First-steps'))).body).toEqual(made)
    await page('guides/How to', 'how')
    const listed = await world.nobody.get(api)
    expect(listed.body).toEqual([
      { format: 'markdown', slug: 'First-steps', title: 'First steps' },
      { format: 'markdown', slug: 'guides/How-to', title: 'How to' },
    ])
    const whole = await ana.get(`${api}?with_content=true`)
    expect(whole.body.map((one: { content: string }) => one.content)).toEqual(['# Begin\n', 'how'])
    const changed = await ana.put(at('guides/How-to'), { content: 'so' })
    expect(changed.body).toMatchObject({ slug: 'guides/How-to', content: 'so' })
    expect((await ana.delete(at('guides/How-to'))).status).toBe(204)
    expect((await ana.get(at('guides/How-to'))).status).toBe(404)
    const log = git(folderOf(project.id), ['log', '--format=%s %an %ae', 'main'])
    expect(log.split('\n')).toEqual([
      'ana deleted page: How to ana ana@example.com',
      'ana updated page: How to ana ana@example.com',
      'ana created page: guides/How to ana ana@example.com',
      'ana created page: First steps ana ana@example.com',
    ])
  })

  test.each([
    ['markdown', 'md'],
    ['rdoc', 'rdoc'],
    ['asciidoc', 'asciidoc'],
    ['org', 'org'],
  ])('are written in %s as .%s', async (format, extension) => {
    const made = await page(`in ${format}`, 'x', { format })
    expect(made).toMatchObject({ format, slug: `in-${format}` })
    const files = git(folderOf(project.id), ['ls-tree', '-r', '--name-only', 'main'])
    expect(files.split('\n')).toContain(`in-${format}.${extension}`)
  })

  test('keep their folder when they are renamed, leave it for the top, or go to another', async () => {
    await page('a/b/one', 'text')
    const stay = await ana.put(at('a/b/one'), { title: 'two words' })
    expect(stay.body).toMatchObject({ slug: 'a/b/two-words', content: 'text' })
    expect((await ana.get(at('a/b/one'))).status).toBe(404)
    const top = await ana.put(at('a/b/two-words'), { title: '/three', content: 'new text' })
    expect(top.body).toMatchObject({ slug: 'three', content: 'new text' })
    const moved = await ana.put(at('three'), { title: 'x/y', format: 'org' })
    expect(moved.body).toMatchObject({ slug: 'x/y', format: 'org', content: 'new text' })
    await page('taken')
    const refused = await ana.put(at('taken'), { title: '/x/y' })
    expect(refused.status).toBe(400)
    expect(refused.body.message.base[0]).toContain('Duplicate page')
    const same = await ana.put(at('taken'), { title: 'taken', content: 'text' })
    expect(same.status).toBe(200)
  })

  test('have front matter that is no part of their text', async () => {
    const made = await page('Titled', 'Text\n', { front_matter: { title: 'A: better title' } })
    expect(made).toMatchObject({
      title: 'Titled',
      content: 'Text\n',
      front_matter: { title: 'A: better title' },
    })
    const kept = await ana.put(at('Titled'), { content: 'Other\n' })
    expect(kept.body).toMatchObject({ content: 'Other\n', front_matter: made.front_matter })
    const own = await ana.put(at('Titled'), { content: '---\ntags: [a, b]\n---\nMore' })
    expect(own.body).toMatchObject({ content: 'More', front_matter: { tags: ['a', 'b'] } })
    const none = await ana.put(at('Titled'), { front_matter: { title: null } })
    expect(none.body).toMatchObject({ content: 'More', front_matter: {} })
    const broken = await ana.put(at('Titled'), { content: '---\n{: [\n---\nMore' })
    expect(broken.body).toMatchObject({ content: '---\n{: [\n---\nMore', front_matter: {} })
    const bomb = `---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n`
    expect((await ana.put(at('Titled'), { content: bomb })).body.front_matter).toEqual({})
  })

  test('have front matter of four kilobytes at most; what is longer is text', async () => {
    const matter = (bytes: number) => `---\ntitle: ${'t'.repeat(bytes - 16)}\n---\n`
    expect(matter(4096)).toHaveLength(4096)
    const most = await page('Long', `${matter(4096)}Text`)
    expect([most.content, most.front_matter]).toEqual(['Text', { title: 't'.repeat(4080) }])
    const more = `${matter(4100)}Text`
    const longer = await page('Longer', more)
    expect([longer.content, longer.front_matter]).toEqual([more, {}])
    // Keys by the ten thousand: nobody waits for them.
    const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join('\n')
    const begun = performance.now()
    const huge = await page('Huge', `---\n${keys}\n---\nText`)
    expect(huge.front_matter).toEqual({})
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  test('are read as they were at a version', async () => {
    await page('versions', 'old')
    const repository = folderOf(project.id)
    const before = git(repository, ['rev-parse', 'main'])
    await ana.put(at('versions'), { content: 'new' })
    expect((await ana.get(at('versions'))).body.content).toBe('new')
    const old = await ana.get(`${at('versions')}?version=${before}`)
    expect(old.body.content).toBe('old')
    for (const version of ['0'.repeat(40), 'main', 'HEAD~1', ':/x', '--help']) {
      const missing = await ana.get(`${at('versions')}?version=${encodeURIComponent(version)}`)
      expect(missing.status, version).toBe(404)
    }
  })

  test('are rendered without anything that runs', async () => {
    const issue = await ana.post(`/projects/${project.id}/issues`, { title: 'one' })
    const hostile = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[x](javascript:alert(1))',
      '[x](data:text/html;base64,PHNjcmlwdD4=)',
      '![x](vbscript:x)',
      '<svg/onload=alert(1)>',
      '[a]: javascript:alert(1)',
      '[b][a]',
    ].join('\n\n')
    await page('hostile', `${hostile}\n\nSee #${issue.body.iid}`)
    const { body } = await ana.get(`${at('hostile')}?render_html=true`)
    expect(body.content).not.toMatch(
      /<script|<img[^>]+onerror|<svg|href="(?:javascript|data|vbscript)/i,
    )
    expect(body.content).toContain('&lt;script&gt;')
    expect(body.content).toContain(`/ana/basic/-/issues/${issue.body.iid}"`)
    for (const format of ['rdoc', 'asciidoc', 'org']) {
      await page(`hostile ${format}`, hostile, { format })
      const other = await ana.get(`${at(`hostile-${format}`)}?render_html=true`)
      expect(other.body.content).toMatch(/^<pre><code>&lt;script&gt;/)
      expect(other.body.content).not.toMatch(/<(?!\/?(?:pre|code)>)/)
    }
  })

  test.each([
    '../x',
    'a/../../x',
    '.',
    '.git/config',
    'a/.GIT/x',
    '.git\u200c/x',
    'a\\b',
    'a\u0001b',
    'x'.repeat(246),
    `${'x'.repeat(256)}/y`,
    ' / ',
    '',
  ])('are not called %j', async (title) => {
    const before = git(folderOf(project.id), ['rev-parse', 'main'])
    const refused = await ana.post(api, { title, content: 'x' })
    expect(refused.status).toBe(400)
    expect((await ana.post(api, { title: 'a\0b', content: 'x' })).status).toBe(400)
    expect(git(folderOf(project.id), ['rev-parse', 'main'])).toBe(before)
  })

  test('refuse changes that say nothing, and pages that are too large', async () => {
    await page('limits')
    const nothing = await ana.put(at('limits'), {})
    expect(nothing.body.error).toContain('at least one parameter must be provided')
    expect((await ana.post(api, { title: 'x' })).body.error).toBe('content is missing')
    await world.root.put('/application/settings', { wiki_page_max_content_bytes: 1024 })
    try {
      const large = await ana.put(at('limits'), { content: 'x'.repeat(1025) })
      expect(large.status).toBe(400)
      expect(large.body.message.content[0]).toContain('is too long')
    } finally {
      await world.root.put('/application/settings', { wiki_page_max_content_bytes: 52_428_800 })
    }
  })

  test('that many write at once are all kept, and made once', async () => {
    const own = await newProject('crowd')
    const writes = await Promise.all([
      ...Array.from({ length: 8 }, (_, i) =>
        ana.post(own.api, { title: `page ${i}`, content: 'x' }),
      ),
      ...Array.from({ length: 4 }, () => ana.post(own.api, { title: 'same', content: 'x' })),
    ])
    const codes = writes.map((one) => one.status)
    expect(codes.slice(0, 8)).toEqual(Array(8).fill(201))
    expect(codes.slice(8).toSorted()).toEqual([201, 400, 400, 400])
    const edits = await Promise.all(
      Array.from({ length: 6 }, (_, i) => ana.put(`${own.api}/same`, { content: `v${i}` })),
    )
    expect(edits.map((one) => one.status)).toEqual(Array(6).fill(200))
    const count = git(folderOf(own.id), ['rev-list', '--count', 'main'])
    expect(Number(count)).toBe(9 + 6)
    expect((await ana.get(own.api)).body).toHaveLength(9)
  })

  test('take files beside them', async () => {
    const form = new FormData()
    form.set('file', new Blob(['PNG']), 'my pic (1).png')
    const made = await ana.call('POST', `${api}/attachments`, undefined, { raw: form })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(made.body.file_name).toBe('my_pic_1_.png')
    expect(made.body.file_path).toMatch(/^uploads\/[0-9a-f]{32}\/my_pic_1_\.png$/)
    expect(made.body.branch).toBe('main')
    expect(made.body.link).toEqual({
      url: made.body.file_path,
      markdown: `![my_pic_1_](${made.body.file_path})`,
    })
    expect(git(folderOf(project.id), ['show', `main:${made.body.file_path}`])).toBe('PNG')
    const address = `/ana/basic/-/wikis/${made.body.file_path}`
    const shown = await world.nobody.get(address, { host: true })
    expect([shown.status, shown.body]).toEqual([200, 'PNG'])
    expect(shown.headers.get('content-disposition')).toContain('attachment')
    expect(shown.headers.get('content-security-policy')).toContain('sandbox')
    const gif = new FormData()
    gif.set('file', new Blob([`GIF89a${'\0'.repeat(20)}`]), 'a.gif')
    const image = await ana.call('POST', `${api}/attachments`, undefined, { raw: gif })
    const seen = await ana.get(`/ana/basic/-/wikis/${image.body.file_path}`, { host: true })
    expect(seen.headers.get('content-type')).toBe('image/gif')
    expect(seen.headers.get('content-disposition')).toContain('inline')
    const page = `/ana/basic/-/wikis/uploads/${'0'.repeat(32)}/x`
    expect((await ana.get(page, { host: true })).status).toBe(404)
    const closed = await addProject(world, ana, 'basic', { path: 'closed' })
    const own = new FormData()
    own.set('file', new Blob(['x']), 'x.txt')
    const wiki = `/projects/${closed.id}/wikis/attachments`
    const secret = await ana.call('POST', wiki, undefined, { raw: own })
    const hidden = `/ana/closed/-/wikis/${secret.body.file_path}`
    expect((await ben.get(hidden, { host: true })).status).toBe(404)
    expect((await ana.get(hidden, { host: true })).status).toBe(200)
    const named = new FormData()
    named.set('file', new Blob(['# no page']), '../../..\\evil`](x).md')
    const other = await ana.call('POST', `${api}/attachments`, undefined, { raw: named })
    expect(other.status).toBe(201)
    expect(other.body.link.markdown).not.toMatch(/\]\(x\)/)
    expect(other.body.link.markdown).toBe(`[evil_x_.md](${other.body.file_path})`)
    const slugs = (await ana.get(api)).body.map((one: { slug: string }) => one.slug)
    expect(slugs.filter((slug: string) => slug.startsWith('uploads'))).toEqual([])
  })
})

describe('who may', () => {
  test('planners and developers write, reporters and guests read, strangers by visibility', async () => {
    const own = await addProject(world, ana, 'basic', { path: 'roles' })
    const wiki = `/projects/${own.id}/wikis`
    await ana.post(wiki, { title: 'home', content: 'x' })
    const tries: Record<string, number[]> = {}
    for (const [role, level] of Object.entries({ guest: 10, planner: 15, reporter: 20, dev: 30 })) {
      const caller = await world.user(`w${role}`)
      await addMember(world, own.id, caller.id, level)
      tries[role] = [
        (await caller.get(`${wiki}/home`)).status,
        (await caller.post(wiki, { title: role, content: 'x' })).status,
        (await caller.put(`${wiki}/home`, { content: role })).status,
      ]
    }
    expect(tries).toEqual({
      guest: [200, 403, 403],
      planner: [200, 201, 200],
      reporter: [200, 403, 403],
      dev: [200, 201, 200],
    })
    expect((await ben.get(`${wiki}/home`)).status).toBe(404)
    expect((await world.nobody.get(wiki)).status).toBe(404)
    expect((await ben.post(api, { title: 'x', content: 'x' })).status).toBe(403)
    expect((await world.nobody.post(api, { title: 'x', content: 'x' })).status).toBe(401)
  })

  test('nobody, where the wiki is off; members, where it is private; readers, in an archive', async () => {
    const own = await newProject('switches')
    await ana.post(own.api, { title: 'home', content: 'x' })
    const set = (wiki_access_level: string) => ana.put(`/projects/${own.id}`, { wiki_access_level })
    await set('disabled')
    expect((await ana.get(`${own.api}/home`)).status).toBe(403)
    expect((await ana.post(own.api, { title: 'x', content: 'x' })).status).toBe(403)
    await set('private')
    expect((await ana.get(`${own.api}/home`)).status).toBe(200)
    expect((await ben.get(`${own.api}/home`)).status).toBe(403)
    await set('enabled')
    await ana.post(`/projects/${own.id}/archive`)
    expect((await ben.get(`${own.api}/home`)).status).toBe(200)
    expect((await ana.put(`${own.api}/home`, { content: 'y' })).status).toBe(403)
  })
})

describe('what follows from edits', () => {
  test('stands in the feed, for those who may read the wiki', async () => {
    const own = await newProject('feed')
    await ana.post(own.api, { title: 'One page', content: 'x' })
    await ana.put(`${own.api}/One-page`, { title: 'Other page', content: 'all different now' })
    await ana.delete(`${own.api}/Other-page`)
    const feed = async (caller: Caller) =>
      (await caller.get(`/projects/${own.id}/events?sort=asc`)).body.filter(
        (one: { target_type: string }) => one.target_type === 'WikiPage::Meta',
      )
    const events = await feed(ben)
    expect(
      events.map((one: { action_name: string; target_title: string }) => [
        one.action_name,
        one.target_title,
      ]),
    ).toEqual([
      ['created', 'One page'],
      ['updated', 'Other page'],
      ['destroyed', 'Other page'],
    ])
    expect(new Set(events.map((one: { target_id: number }) => one.target_id)).size).toBe(1)
    expect(events[0].wiki_page).toEqual({
      format: 'markdown',
      slug: 'Other-page',
      title: 'Other page',
      wiki_page_meta_id: events[0].target_id,
    })
    await ana.put(`/projects/${own.id}`, { wiki_access_level: 'private' })
    expect(await feed(ben)).toEqual([])
    expect(await feed(ana)).toHaveLength(3)
  })

  test('is sent to hooks that have it on', async () => {
    const own = await newProject('hooked')
    const hooks = `/projects/${own.id}/hooks`
    const hook = await ana.post(hooks, {
      url: `${receiver.url}/wiki`,
      push_events: false,
      wiki_page_events: true,
    })
    const early = await ana.post(`${hooks}/${hook.body.id}/test/wiki_page_events`)
    expect(early.status).toBe(422)
    await ana.post(own.api, { title: 'docs/Hooked', content: '# Hi' })
    await ana.put(`${own.api}/docs%2FHooked`, { content: '# Ho' })
    await ana.delete(`${own.api}/docs%2FHooked`)
    await world.runTasks()
    const sent = receiver.received.filter((one) => one.url === '/wiki')
    expect(sent.map((one) => one.body.object_attributes.action)).toEqual([
      'create',
      'update',
      'delete',
    ])
    const [first] = sent
    expect(first?.headers['x-gitlab-event']).toBe('Wiki Page Hook')
    expect(first?.body).toMatchObject({
      object_kind: 'wiki_page',
      user: { username: 'ana' },
      project: { path_with_namespace: 'ana/hooked' },
      wiki: {
        git_http_url: 'http://gitstead.example/ana/hooked.wiki.git',
        path_with_namespace: 'ana/hooked.wiki',
        default_branch: 'main',
      },
      object_attributes: {
        title: 'Hooked',
        slug: 'docs/Hooked',
        format: 'markdown',
        content: '# Hi',
        url: 'http://gitstead.example/ana/hooked/-/wikis/docs/Hooked',
      },
    })
    await ana.post(own.api, { title: 'again', content: 'x' })
    const tried = await ana.post(`${hooks}/${hook.body.id}/test/wiki_page_events`)
    expect(tried.status).toBe(201)
  })

  test('is measured, follows a rename of the project, and goes with it', async () => {
    const own = await newProject('measured')
    await ana.post(own.api, { title: 'home', content: 'x'.repeat(5000) })
    await world.runTasks()
    const { statistics } = (await ana.get(`/projects/${own.id}?statistics=true`)).body
    expect(statistics.wiki_size).toBeGreaterThan(0)
    expect(statistics.storage_size).toBeGreaterThanOrEqual(statistics.wiki_size)
    const ordered = await world.root.get('/projects?order_by=wiki_size&per_page=1')
    expect(ordered.body[0].id).toBe(project.id)
    const last = await world.root.get('/projects?order_by=wiki_size&sort=asc&per_page=1')
    expect(last.body[0].id).not.toBe(own.id)
    await ana.put(`/projects/${own.id}`, { path: 'renamed' })
    expect((await ana.get('/projects/ana%2Frenamed/wikis/home')).status).toBe(200)
    const snapshot = await world.root.get(`/projects/${own.id}/snapshot?wiki=true`)
    expect(snapshot.status).toBe(200)
    const fork = await ben.post(`/projects/${own.id}/fork`)
    await world.runTasks()
    expect((await ben.get(`/projects/${fork.body.id}/wikis`)).body).toEqual([])
    await ana.delete(`/projects/${own.id}`)
    await world.runTasks()
    expect(await world.ctx.git.exists({ kind: 'project_wiki', id: own.id })).toBe(false)
  })
})

describe('wikis of groups', () => {
  test('work as those of projects', async () => {
    const group = await createGroup(ana, 'team', { visibility: 'public' })
    const wiki = `/groups/${group.id}/wikis`
    expect((await world.nobody.get(wiki)).body).toEqual([])
    const made = await ana.post(wiki, { title: 'a/home', content: '*hi*' })
    expect(made.body).toMatchObject({ slug: 'a/home', title: 'home', format: 'markdown' })
    const html = await world.nobody.get(`${at('a/home', wiki)}?render_html=true`)
    expect(html.body.content).toBe('<p><em>hi</em></p>\n')
    expect((await ana.get('/groups/team/wikis?with_content=1')).body[0].content).toBe('*hi*')
    const changed = await ana.put(at('a/home', wiki), { title: 'start' })
    expect(changed.body.slug).toBe('a/start')
    const form = new FormData()
    form.set('file', new Blob(['x']), 'x.txt')
    const file = await ana.call('POST', `${wiki}/attachments`, undefined, { raw: form })
    expect(file.body.link.markdown).toMatch(/^\[x\.txt\]\(uploads\//)
    const address = `/groups/team/-/wikis/${file.body.file_path}`
    expect((await world.nobody.get(address, { host: true })).body).toBe('x')
    expect((await ben.post(wiki, { title: 'x', content: 'x' })).status).toBe(403)
    expect((await world.nobody.post(wiki, { title: 'x', content: 'x' })).status).toBe(401)
    await world.runTasks()
    const sizes = (await world.root.get(`/groups?statistics=true&search=team`)).body[0].statistics
    expect(sizes.wiki_size).toBeGreaterThan(0)
    const level = (wiki_access_level: string) =>
      ana.put(`/groups/${group.id}`, { wiki_access_level })
    expect((await level('private')).body.wiki_access_level).toBe('private')
    expect((await ben.get(wiki)).status).toBe(403)
    expect((await ana.get(wiki)).status).toBe(200)
    await level('disabled')
    expect((await ana.get(wiki)).status).toBe(403)
    await level('enabled')
    expect((await ana.delete(at('a/start', wiki))).status).toBe(204)
    const hidden = await createGroup(ana, 'own')
    await ana.post(`/groups/${hidden.id}/wikis`, { title: 'home', content: 'x' })
    expect((await ben.get(`/groups/${hidden.id}/wikis`)).status).toBe(404)
    const below = await createGroup(ana, 'b', { parent_id: hidden.id })
    await ana.post(`/groups/${below.id}/wikis`, { title: 'home', content: 'x' })
    await ana.delete(`/groups/${hidden.id}`)
    await world.runTasks()
    for (const id of [hidden.id, below.id]) {
      expect(await world.ctx.git.exists({ kind: 'group_wiki', id })).toBe(false)
    }
  })
})
