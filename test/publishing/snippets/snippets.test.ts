import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ externalUrl: 'http://gitstead.example' })
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const ext = useCaller(world, 'ext', { external: true })
const guest = useCaller(world, 'guest')

async function snippet(caller: Caller, more: Record<string, unknown> = {}) {
  const files = [{ file_path: 'a.txt', content: 'one\n' }]
  const made = await caller.post('/snippets', { title: 'Mine', files, ...more })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body
}

const raw = (id: number, path: string, ref = 'main') =>
  ana.get(`/snippets/${id}/files/${ref}/${encodeURIComponent(path)}/raw`)

describe('snippets of people', () => {
  test('are made of files, shown, and found again', async () => {
    const made = await snippet(ana, {
      description: 'two files',
      visibility: 'internal',
      files: [
        { file_path: 'b/ü x.md', content: '# Hi\n' },
        { file_path: 'a.rb', content: 'puts 1\n' },
      ],
    })
    expect(made).toMatchObject({
      title: 'Mine',
      description: 'two files',
      visibility: 'internal',
      author: { username: 'ana' },
      project_id: null,
      web_url: `http://gitstead.example/-/snippets/${made.id}`,
      raw_url: `http://gitstead.example/-/snippets/${made.id}/raw`,
      http_url_to_repo: `http://gitstead.example/snippets/${made.id}.git`,
      ssh_url_to_repo: `git@gitstead.example:snippets/${made.id}.git`,
      file_name: 'a.rb',
      imported: false,
    })
    expect(made.files).toEqual([
      { path: 'a.rb', raw_url: `${made.raw_url}/main/a.rb` },
      { path: 'b/ü x.md', raw_url: `${made.raw_url}/main/b/%C3%BC%20x.md` },
    ])
    expect((await ana.get(`/snippets/${made.id}`)).body).toEqual(made)
    const first = await ana.get(`/snippets/${made.id}/raw`)
    expect(first.body).toBe('puts 1\n')
    expect(first.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(first.headers.get('content-security-policy')).toContain('sandbox')
    expect((await raw(made.id, 'b/ü x.md')).body).toBe('# Hi\n')
    expect((await raw(made.id, 'nothing')).status).toBe(404)
    expect((await raw(made.id, 'a.rb', 'other')).status).toBe(404)
  })

  test('are not for external users to make, who may in projects that let them', async () => {
    const own = { title: 'Mine', file_name: 'a.txt', content: 'one\n', visibility: 'private' }
    expect((await ext.post('/snippets', own)).status).toBe(403)
    expect((await world.nobody.post('/snippets', own)).status).toBe(401)
    const project = await addProject(world, ana, 'basic', { path: 'with-external' })
    expect((await ext.post(`/projects/${project.id}/snippets`, own)).status).toBe(404)
    await addMember(world, project.id, ext.id, 20)
    expect((await ext.post(`/projects/${project.id}/snippets`, own)).status).toBe(201)
  })

  test('may be given as one file by name and content, and changed the same way', async () => {
    const made = await snippet(ana, { files: undefined, file_name: 'x.sh', content: 'ls' })
    expect(made.files.map((file: { path: string }) => file.path)).toEqual(['x.sh'])
    expect(made.visibility).toBe('private')
    const one = await ana.put(`/snippets/${made.id}`, { content: 'ls -l' })
    expect(one.status).toBe(200)
    const two = await ana.put(`/snippets/${made.id}`, { file_name: 'y.sh', title: 'List' })
    expect(two.body).toMatchObject({ title: 'List', file_name: 'y.sh' })
    expect((await ana.get(`/snippets/${made.id}/raw`)).body).toBe('ls -l')
    const unnamed = await snippet(ana, { files: undefined, content: 'x' })
    expect(unnamed.file_name).toBe('snippetfile1.txt')
  })

  test('change by creating, updating, moving and deleting files, all or none', async () => {
    const made = await snippet(ana, {
      files: ['a', 'b', 'c'].map((name) => ({ file_path: name, content: name })),
    })
    const changed = await ana.put(`/snippets/${made.id}`, {
      files: [
        { action: 'update', file_path: 'a', content: 'A' },
        { action: 'delete', file_path: 'b' },
        { action: 'move', previous_path: 'c', file_path: 'd/c' },
        { action: 'create', file_path: 'e', content: 'E' },
      ],
    })
    expect(changed.status).toBe(200)
    const paths = changed.body.files.map((file: { path: string }) => file.path)
    expect(paths).toEqual(['a', 'd/c', 'e'])
    expect((await raw(made.id, 'a')).body).toBe('A')
    expect((await raw(made.id, 'd/c')).body).toBe('c')
    const half = await ana.put(`/snippets/${made.id}`, {
      title: 'Half',
      files: [
        { action: 'update', file_path: 'a', content: 'AA' },
        { action: 'delete', file_path: 'nothing' },
      ],
    })
    expect(half.status).toBe(400)
    expect((await raw(made.id, 'a')).body).toBe('A')
    expect((await ana.get(`/snippets/${made.id}`)).body.title).toBe('Mine')
    const single = await ana.put(`/snippets/${made.id}`, { content: 'x' })
    expect(single.status).toBe(400)
    expect(single.body.message).toContain('multiple files')
  })

  test('hold one to ten files, none too large', async () => {
    const many = Array.from({ length: 11 }, (_, i) => ({ file_path: `f${i}`, content: 'x' }))
    expect((await ana.post('/snippets', { title: 't', files: many })).status).toBe(400)
    const made = await snippet(ana, { files: many.slice(0, 10) })
    const eleventh = { action: 'create', file_path: 'more', content: 'x' }
    const more = await ana.put(`/snippets/${made.id}`, { files: [eleventh] })
    expect(more.status).toBe(400)
    expect(more.body.message).toContain('at most 10 file(s)')
    const few = await snippet(ana)
    const none = await ana.put(`/snippets/${few.id}`, {
      files: [{ action: 'delete', file_path: 'a.txt' }],
    })
    expect(none.body.message).toContain('at least 1 file')
    await world.root.put('/application/settings', { snippet_size_limit: 10 })
    try {
      const large = [{ file_path: 'l', content: 'x'.repeat(11) }]
      const refused = await ana.post('/snippets', { title: 't', files: large })
      expect(refused.status).toBe(400)
      expect(refused.body.message.content[0]).toContain('is too long')
    } finally {
      await world.root.put('/application/settings', { snippet_size_limit: 52_428_800 })
    }
  })

  test.each([
    [{ title: 't' }, 'files, content are missing, exactly one parameter must be provided'],
    [{ title: 't', files: [], content: 'x' }, 'files, content are mutually exclusive'],
    [{ title: ' ', content: 'x' }, 'title is empty'],
    [{ content: 'x' }, 'title is missing'],
    [{ title: 't', content: '' }, 'content is empty'],
    [{ title: 't', files: [] }, 'files is empty'],
    [{ title: 't', content: 'x', visibility: 'secret' }, 'visibility does not have a valid value'],
  ])('are refused as %j', async (body, error) => {
    const refused = await ana.post('/snippets', body)
    expect(refused.status).toBe(400)
    expect(refused.body.error).toContain(error)
  })

  test.each([
    '../x',
    '/x',
    'a/../../b',
    '.git/config',
    'a/.GIT/hooks',
    'a\\b',
    'x'.repeat(256),
    'a//b',
    'a\u0001b',
  ])('have no file called %j, and leave nothing behind when refused', async (file_path) => {
    const count = async () =>
      Number((await world.root.get('/snippets/all?per_page=1')).headers.get('x-total'))
    const before = await count()
    const refused = await ana.post('/snippets', {
      title: 't',
      files: [{ file_path, content: 'x' }],
    })
    expect(refused.status).toBe(400)
    expect(await count()).toBe(before)
    const hidden = world.ctx.db.selectFrom('snippets').select('id').where('pending_delete', '=', 1)
    expect(await hidden.execute()).toEqual([])
  })

  test('are seen by those whom their visibility means', async () => {
    const ids: Record<string, number> = {}
    for (const visibility of ['private', 'internal', 'public']) {
      ids[visibility] = (await snippet(ana, { visibility })).id
    }
    const seen = async (caller: Caller) => {
      const found: string[] = []
      for (const [visibility, id] of Object.entries(ids)) {
        const { status } = await caller.get(`/snippets/${id}`)
        expect((await caller.get(`/snippets/${id}/raw`)).status).toBe(status)
        if (status === 200) found.push(visibility)
        else expect(status).toBe(404)
      }
      return found
    }
    expect(await seen(ana)).toEqual(['private', 'internal', 'public'])
    expect(await seen(world.root)).toEqual(['private', 'internal', 'public'])
    expect(await seen(ben)).toEqual(['internal', 'public'])
    expect(await seen(ext)).toEqual(['public'])
    expect(await seen(world.nobody)).toEqual(['public'])
    const listed = async (caller: Caller, path: string) =>
      (await caller.get(`${path}?per_page=100`)).body
        .map((one: { id: number }) => one.id)
        .filter((id: number) => Object.values(ids).includes(id))
    expect(await listed(ana, '/snippets')).toEqual([ids.public, ids.internal, ids.private])
    expect(await listed(ben, '/snippets')).toEqual([])
    expect(await listed(ben, '/snippets/all')).toEqual([ids.public, ids.internal])
    expect(await listed(ext, '/snippets/all')).toEqual([ids.public])
    expect(await listed(world.root, '/snippets/all')).toHaveLength(3)
    expect(await listed(ben, '/snippets/public')).toEqual([ids.public])
    for (const path of ['/snippets', '/snippets/public', '/snippets/all']) {
      expect((await world.nobody.get(path)).status).toBe(401)
    }
    const later = await ana.get('/snippets?created_after=2026-06-01')
    expect(later.body).toEqual([])
  })

  test('are changed and deleted by their author and administrators alone', async () => {
    const made = await snippet(ana, { visibility: 'public' })
    expect((await ben.put(`/snippets/${made.id}`, { title: 'x' })).status).toBe(403)
    expect((await ben.delete(`/snippets/${made.id}`)).status).toBe(403)
    expect((await world.nobody.put(`/snippets/${made.id}`, { title: 'x' })).status).toBe(401)
    expect((await world.root.put(`/snippets/${made.id}`, { title: 'x' })).body.title).toBe('x')
    const hidden = await snippet(ana)
    expect((await ben.delete(`/snippets/${hidden.id}`)).status).toBe(404)
    const name = { kind: 'snippet', id: made.id } as const
    expect(await world.ctx.git.exists(name)).toBe(true)
    expect((await ana.delete(`/snippets/${made.id}`)).status).toBe(204)
    expect((await ana.get(`/snippets/${made.id}`)).status).toBe(404)
    expect((await ana.delete(`/snippets/${made.id}`)).status).toBe(404)
    await world.runTasks()
    expect(await world.ctx.git.exists(name)).toBe(false)
  })

  test('show administrators from where they were made', async () => {
    const made = await ana.post(
      '/snippets',
      { title: 't', content: 'x' },
      {
        headers: { 'User-Agent': 'tests/1' },
      },
    )
    const path = `/snippets/${made.body.id}/user_agent_detail`
    expect((await world.root.get(path)).body).toEqual({
      user_agent: 'tests/1',
      ip_address: '127.0.0.1',
      akismet_submitted: false,
    })
    expect((await ana.get(path)).status).toBe(403)
  })

  test('keep to the visibilities that administrators allow', async () => {
    await world.root.put('/application/settings', { restricted_visibility_levels: ['public'] })
    try {
      const refused = await ana.post('/snippets', {
        title: 't',
        content: 'x',
        visibility: 'public',
      })
      expect(refused.status).toBe(400)
      expect(refused.body.message.visibility_level[0]).toContain('restricted')
    } finally {
      await world.root.put('/application/settings', { restricted_visibility_levels: [] })
    }
  })

  test('that are changed by many at once lose no change', async () => {
    const made = await snippet(ana)
    const changes = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        ana.put(`/snippets/${made.id}`, {
          files: [{ action: 'create', file_path: `n${i}`, content: 'x' }],
        }),
      ),
    )
    expect(changes.map((one) => one.status)).toEqual(Array(8).fill(200))
    expect((await ana.get(`/snippets/${made.id}`)).body.files).toHaveLength(9)
  })

  test('become the ghost’s when their author is deleted, or go along', async () => {
    const cleo = await world.user('cleo')
    const dan = await world.user('dan')
    const kept = await snippet(cleo, { visibility: 'public' })
    const lost = await snippet(dan, { visibility: 'public' })
    expect((await world.root.delete(`/users/${cleo.id}`)).status).toBe(204)
    expect((await world.root.delete(`/users/${dan.id}?hard_delete=true`)).status).toBe(204)
    await world.runTasks()
    expect((await ana.get(`/snippets/${kept.id}`)).body.author.name).toBe('Ghost User')
    expect((await ana.get(`/snippets/${lost.id}`)).status).toBe(404)
    expect(await world.ctx.git.exists({ kind: 'snippet', id: kept.id })).toBe(true)
    expect(await world.ctx.git.exists({ kind: 'snippet', id: lost.id })).toBe(false)
  })
})

describe('snippets of projects', () => {
  let project: TestProject
  let api: string

  beforeAll(async () => {
    project = await addProject(world, ana, 'basic', { visibility: 'public' })
    api = `/projects/${project.id}/snippets`
    await addMember(world, project.id, guest.id, 10)
  })

  async function inProject(caller: Caller, visibility = 'public') {
    const made = await caller.post(api, {
      title: 'Here',
      visibility,
      files: [{ file_path: 'a.txt', content: 'one\n' }],
    })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }

  test('live below their project', async () => {
    const made = await inProject(ana)
    expect(made).toMatchObject({
      project_id: project.id,
      web_url: `http://gitstead.example/ana/basic/-/snippets/${made.id}`,
      http_url_to_repo: `http://gitstead.example/ana/basic/snippets/${made.id}.git`,
    })
    expect((await ana.get(`${api}/${made.id}`)).body).toEqual(made)
    const listed = await world.nobody.get(api)
    expect(listed.body.map((one: { id: number }) => one.id)).toContain(made.id)
    expect((await ana.get(`${api}/${made.id}/raw`)).body).toBe('one\n')
    const file = await ana.get(`${api}/${made.id}/files/main/a.txt/raw`)
    expect(file.body).toBe('one\n')
    const changed = await ana.put(`${api}/${made.id}`, { title: 'There', content: 'two\n' })
    expect(changed.body.title).toBe('There')
    expect((await world.root.get(`${api}/${made.id}/user_agent_detail`)).status).toBe(200)
    const other = await addProject(world, ana, 'basic', { path: 'other' })
    expect((await ana.get(`/projects/${other.id}/snippets/${made.id}`)).status).toBe(404)
    expect((await ana.delete(`${api}/${made.id}`)).status).toBe(204)
    expect((await ana.get(`${api}/${made.id}`)).status).toBe(404)
  })

  test('must say how visible they are', async () => {
    const refused = await ana.post(api, { title: 't', content: 'x' })
    expect(refused.body).toEqual({ error: 'visibility is missing' })
  })

  test('are made by reporters, read by members, and kept by maintainers', async () => {
    const reporter = await world.user('reporter')
    await addMember(world, project.id, reporter.id, 20)
    const maintainer = await world.user('maintainer')
    await addMember(world, project.id, maintainer.id, 40)
    const refused = await guest.post(api, { title: 't', content: 'x', visibility: 'private' })
    expect(refused.status).toBe(403)
    const stranger = await ben.post(api, { title: 't', content: 'x', visibility: 'private' })
    expect(stranger.status).toBe(403)
    const hidden = await inProject(reporter, 'private')
    expect((await guest.get(`${api}/${hidden.id}`)).status).toBe(200)
    expect((await ben.get(`${api}/${hidden.id}`)).status).toBe(404)
    expect((await world.nobody.get(`${api}/${hidden.id}/raw`)).status).toBe(404)
    expect((await guest.put(`${api}/${hidden.id}`, { title: 'x' })).status).toBe(403)
    expect((await reporter.put(`${api}/${hidden.id}`, { title: 'x' })).status).toBe(200)
    await addMember(world, project.id, reporter.id, 10)
    expect((await reporter.put(`${api}/${hidden.id}`, { title: 'y' })).status).toBe(403)
    expect((await maintainer.delete(`${api}/${hidden.id}`)).status).toBe(204)
    const inner = await inProject(ana, 'internal')
    const list = async (caller: Caller) =>
      (await caller.get(api)).body.map((one: { id: number }) => one.id)
    expect(await list(ben)).toContain(inner.id)
    expect(await list(ext)).not.toContain(inner.id)
    expect(await list(world.nobody)).not.toContain(inner.id)
  })

  test('go with the feature, and stay as they are in an archive', async () => {
    const made = await inProject(ana)
    await ana.put(`/projects/${project.id}`, { snippets_access_level: 'disabled' })
    expect((await ana.get(api)).status).toBe(403)
    expect((await ana.get(`/snippets/${made.id}`)).status).toBe(404)
    const mine = async (caller: Caller) =>
      (await caller.get('/snippets/all?per_page=100')).body.map((one: { id: number }) => one.id)
    expect(await mine(ana)).not.toContain(made.id)
    await ana.put(`/projects/${project.id}`, { snippets_access_level: 'private' })
    expect((await ben.get(`${api}/${made.id}`)).status).toBe(403)
    expect((await guest.get(`${api}/${made.id}`)).status).toBe(200)
    await ana.put(`/projects/${project.id}`, { snippets_access_level: 'enabled' })
    await ana.post(`/projects/${project.id}/archive`)
    expect((await ana.get(`${api}/${made.id}`)).status).toBe(200)
    expect((await ana.put(`${api}/${made.id}`, { title: 'x' })).status).toBe(403)
    expect((await ana.post(api, { title: 't', content: 'x', visibility: 'public' })).status).toBe(
      403,
    )
    await ana.post(`/projects/${project.id}/unarchive`)
  })

  test('are talked about, in comments and threads, with reactions', async () => {
    const made = await inProject(ana)
    const path = `${api}/${made.id}`
    const note = await ben.post(`${path}/notes`, { body: 'nice' })
    expect(note.body).toMatchObject({
      noteable_type: 'Snippet',
      noteable_id: made.id,
      noteable_iid: null,
      project_id: project.id,
    })
    expect((await ana.get(`${path}/notes`)).body).toHaveLength(1)
    expect((await ana.get(`${path}/notes/${note.body.id}`)).status).toBe(200)
    expect((await guest.put(`${path}/notes/${note.body.id}`, { body: 'x' })).status).toBe(403)
    expect((await ben.put(`${path}/notes/${note.body.id}`, { body: 'x' })).body.body).toBe('x')
    const thread = await ana.post(`${path}/discussions`, { body: 'why?' })
    expect(thread.status).toBe(201)
    const discussion = `${path}/discussions/${thread.body.id}`
    const reply = await ben.post(`${discussion}/notes`, { body: 'because' })
    expect(reply.status).toBe(201)
    expect((await ana.get(`${path}/discussions`)).body).toHaveLength(2)
    expect((await ana.get(discussion)).body.notes).toHaveLength(2)
    expect((await ana.get(`${discussion}/notes`)).body).toHaveLength(2)
    const one = `${discussion}/notes/${reply.body.id}`
    expect((await ana.get(one)).status).toBe(200)
    expect((await ben.put(one, { body: 'so' })).body.body).toBe('so')
    expect((await ben.delete(one)).status).toBe(204)
    const [alone] = (await ana.get(`${path}/discussions`)).body
    const single = await ana.post(`${path}/discussions/${alone.id}/notes`, { body: 'x' })
    expect(single.body.message).toContain('can not be replied to')
    const award = await ben.post(`${path}/award_emoji`, { name: 'thumbsup' })
    expect(award.body).toMatchObject({ awardable_type: 'Snippet', awardable_id: made.id })
    expect((await ana.get(`${path}/award_emoji/${award.body.id}`)).status).toBe(200)
    expect((await ana.get(`${path}/award_emoji`)).body).toHaveLength(1)
    expect((await ben.delete(`${path}/award_emoji/${award.body.id}`)).status).toBe(204)
    const onNote = `${path}/notes/${note.body.id}/award_emoji`
    const heart = await ana.post(onNote, { name: 'heart' })
    expect(heart.status).toBe(201)
    expect((await ana.get(onNote)).body).toHaveLength(1)
    expect((await ana.get(`${onNote}/${heart.body.id}`)).status).toBe(200)
    expect((await ana.delete(`${onNote}/${heart.body.id}`)).status).toBe(204)
    expect((await ben.delete(`${path}/notes/${note.body.id}`)).status).toBe(204)
    await ana.delete(path)
    await world.runTasks()
    const left = world.ctx.db
      .selectFrom('notes')
      .select('id')
      .where('noteable_type', '=', 'Snippet')
      .where('noteable_id', '=', made.id)
    expect(await left.execute()).toEqual([])
  })

  test('stand in the feed for those who may see them', async () => {
    const made = await inProject(ana, 'private')
    await ana.post(`${api}/${made.id}/notes`, { body: 'to members' })
    const feed = async (caller: Caller) =>
      (await caller.get(`/projects/${project.id}/events?per_page=100`)).body.filter(
        (one: { target_id: number; target_type: string; note?: { noteable_id: number } }) =>
          (one.target_type === 'Snippet' && one.target_id === made.id) ||
          one.note?.noteable_id === made.id,
      ).length
    expect(await feed(guest)).toBe(2)
    expect(await feed(ben)).toBe(0)
    expect(await feed(world.nobody)).toBe(0)
    await ana.put(`${api}/${made.id}`, { visibility: 'public' })
    expect(await feed(world.nobody)).toBe(2)
  })

  test('count in the size of the project, and go when it goes', async () => {
    const own = await addProject(world, ana, 'basic', { path: 'gone' })
    const made = await ana.post(`/projects/${own.id}/snippets`, {
      title: 't',
      content: 'x'.repeat(10_000),
      visibility: 'private',
    })
    await world.runTasks()
    const { statistics } = (await ana.get(`/projects/${own.id}?statistics=true`)).body
    expect(statistics.snippets_size).toBeGreaterThan(0)
    expect(statistics.storage_size).toBeGreaterThanOrEqual(statistics.snippets_size)
    expect((await world.root.get('/application/statistics')).body.snippets).toMatch(/^\d+$/)
    await ana.delete(`/projects/${own.id}`)
    expect((await ana.get(`/snippets/${made.body.id}`)).status).toBe(404)
    await world.runTasks()
    expect(await world.ctx.git.exists({ kind: 'snippet', id: made.body.id })).toBe(false)
  })
})
