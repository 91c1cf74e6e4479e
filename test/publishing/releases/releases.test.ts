import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let releases: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { visibility: 'public' })
  releases = `/projects/${project.id}/releases`
})

describe('releases', () => {
  test('are made of a tag that is made with them, with links and milestones', async () => {
    await ana.post(`/projects/${project.id}/milestones`, { title: 'm1' })
    const made = await ana.post(releases, {
      tag_name: 'rel/1.0',
      ref: 'main',
      tag_message: 'first',
      description: '**big**',
      milestones: ['m1'],
      assets: {
        links: [
          {
            name: 'bin',
            url: 'https://x.example/bin',
            direct_asset_path: '/bin/a',
            link_type: 'package',
          },
        ],
      },
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      tag_name: 'rel/1.0',
      name: 'rel/1.0',
      upcoming_release: false,
      author: { username: 'ana' },
      commit: { id: project.git('rev-parse', 'main').trim() },
      milestones: [{ title: 'm1', issue_stats: { total: 0, closed: 0 } }],
      assets: { count: 5, links: [{ name: 'bin', link_type: 'package' }] },
    })
    expect(made.body.assets.links[0].direct_asset_url).toMatch(
      /\/-\/releases\/rel%2F1\.0\/downloads\/bin\/a$/,
    )
    expect(project.git('cat-file', '-t', 'rel/1.0').trim()).toBe('tag')
    const tag = await ana.get(`/projects/${project.id}/repository/tags/rel%2F1.0`)
    expect(tag.body.release).toEqual({ tag_name: 'rel/1.0', description: '**big**' })
    const read = await world.nobody.get(`${releases}/rel%2F1.0`)
    expect(read.body).toMatchObject({ tag_name: 'rel/1.0' })
    const asset = await ana.get(`${releases}/rel%2F1.0/downloads/bin/a`)
    expect([asset.status, asset.headers.get('location')]).toEqual([302, 'https://x.example/bin'])
    const shown = new URL(made.body.assets.links[0].direct_asset_url).pathname
    const direct = await world.nobody.get(shown, { host: true })
    expect([direct.status, direct.headers.get('location')]).toEqual([302, 'https://x.example/bin'])
    const none = await world.nobody.get(`${shown}b`, { host: true })
    expect(none.status).toBe(404)
  })

  test('are made once for each tag, and need one', async () => {
    expect((await ana.post(releases, { tag_name: 'rel/1.0' })).body).toEqual({
      message: 'Release already exists',
    })
    const missing = await ana.post(releases, { tag_name: 'none' })
    expect([missing.status, missing.body]).toEqual([422, { message: 'Ref is not specified' }])
    const unknown = await ana.post(releases, { tag_name: 'v9', ref: 'main', milestones: ['nope'] })
    expect(unknown.status).toBe(400)
    expect(project.git('tag', '--list', 'v9')).toBe('')
  })

  test('are found by the newest date, changed, and deleted without their tag', async () => {
    await ana.post(releases, { tag_name: 'old', ref: 'main', released_at: '2020-01-01' })
    await ana.post(releases, { tag_name: 'soon', ref: 'main', released_at: '2030-01-01' })
    const latest = await ana.get(`${releases}/permalink/latest`)
    expect(latest.headers.get('location')).toMatch(/\/releases\/rel%2F1\.0$/)
    const below = await ana.get(`${releases}/permalink/latest/downloads/bin/a`)
    expect(below.headers.get('location')).toMatch(/\/releases\/rel%2F1\.0\/downloads\/bin\/a$/)
    const listed = await ana.get(releases)
    expect(listed.body.map((one: { tag_name: string }) => one.tag_name)).toEqual([
      'soon',
      'rel/1.0',
      'old',
    ])
    expect(listed.body[0].upcoming_release).toBe(true)
    expect((await ana.put(`${releases}/old`, { name: 'Old one', milestones: [] })).body.name).toBe(
      'Old one',
    )
    const gone = await ana.delete(`${releases}/old`)
    expect([gone.status, gone.body.tag_name]).toEqual([200, 'old'])
    expect(project.git('tag', '--list', 'old').trim()).toBe('old')
  })

  test('have links, each with a name and a URL of its own', async () => {
    const links = `${releases}/rel%2F1.0/assets/links`
    const made = await ana.post(links, { name: 'doc', url: 'https://x.example/doc' })
    expect(made.status).toBe(201)
    expect((await ana.post(links, { name: 'doc', url: 'https://x.example/2' })).body).toEqual({
      message: { name: ['has already been taken'] },
    })
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'x']) {
      expect((await ana.post(links, { name: 'bad', url })).status).toBe(400)
    }
    expect((await ana.put(`${links}/${made.body.id}`, { link_type: 'image' })).status).toBe(400)
    expect((await ana.put(`${links}/${made.body.id}`, { name: 'docs' })).body.name).toBe('docs')
    expect((await ana.delete(`${links}/${made.body.id}`)).status).toBe(200)
    expect((await ana.get(`${links}/${made.body.id}`)).status).toBe(404)
  })

  test('are written by Developers and above', async () => {
    const ben = await world.user('ben')
    expect((await ben.post(releases, { tag_name: 'b', ref: 'main' })).status).toBe(403)
    await addMember(world, project.id, ben.id, 20)
    expect((await ben.post(releases, { tag_name: 'b', ref: 'main' })).status).toBe(403)
    await addMember(world, project.id, ben.id, 30)
    expect((await ben.post(releases, { tag_name: 'b', ref: 'main' })).status).toBe(201)
  })
})

test('a protected tag is released by those who may make it, with its text as HTML where asked', async () => {
  const dev = await world.user('dev')
  await addMember(world, project.id, dev.id, 30)
  await ana.post(`/projects/${project.id}/protected_tags`, { name: 'prot-*' })
  const release = { tag_name: 'prot-1', ref: 'main', description: '**big** <b>x</b>' }
  expect((await dev.post(releases, release)).status).toBe(403)
  expect((await ana.post(releases, release)).status).toBe(201)
  expect((await dev.put(`${releases}/prot-1`, { name: 'x' })).status).toBe(403)
  expect((await dev.delete(`${releases}/prot-1`)).status).toBe(403)
  const links = `${releases}/prot-1/assets/links`
  const link = { name: 'bin', url: 'https://x.example/bin' }
  const { body: own } = await ana.post(links, link)
  const other = { name: 'other', url: 'https://evil.example/bin' }
  expect((await dev.post(links, other)).status).toBe(403)
  expect((await dev.put(`${links}/${own.id}`, other)).status).toBe(403)
  expect((await dev.delete(`${links}/${own.id}`)).status).toBe(403)
  expect((await dev.get(links)).body).toMatchObject([link])
  const read = await dev.get(`${releases}/prot-1?include_html_description=true`)
  expect(read.body.description_html).toBe('<p><strong>big</strong> &lt;b&gt;x&lt;/b&gt;</p>\n')
  expect((await dev.get(`${releases}/prot-1`)).body).not.toHaveProperty('description_html')
})

describe('releases of a group', () => {
  test('are those of its projects that the caller sees', async () => {
    const group = await createGroup(ana, 'g', { visibility: 'public' })
    for (const [name, visibility] of [
      ['open', 'public'],
      ['closed', 'private'],
    ] as const) {
      const made = await createProject(ana, name, {
        visibility,
        namespace_id: group.id,
        initialize_with_readme: true,
      })
      const release = { tag_name: `${name}-1`, ref: 'main' }
      expect((await ana.post(`/projects/${made.id}/releases`, release)).status).toBe(201)
    }
    const tags = (body: { tag_name: string }[]) => body.map((one) => one.tag_name)
    const all = await ana.get(`/groups/${group.id}/releases`)
    expect(tags(all.body)).toEqual(['closed-1', 'open-1'])
    expect(tags((await world.nobody.get(`/groups/${group.id}/releases`)).body)).toEqual(['open-1'])
  })
})

describe('evidence', () => {
  test('keeps what the release was at that time, with the hash of that text', async () => {
    const milestone = await ana.post(`/projects/${project.id}/milestones`, { title: 'proof' })
    const issues = `/projects/${project.id}/issues`
    const milestone_id = milestone.body.id
    await ana.post(issues, { title: 'Open to all', milestone_id })
    await ana.post(issues, { title: 'Secret', milestone_id, confidential: true })
    const tag_name = 'proof/1'
    const milestones = ['proof']
    await ana.post(releases, { tag_name, ref: 'main', description: 'before', milestones })
    const path = `${releases}/proof%2F1`
    const made = await ana.post(`${path}/evidence`)
    expect(made.status).toBe(201)
    await ana.put(path, { description: 'after' })
    await ana.post(`${path}/evidence`)
    const { evidences } = (await world.nobody.get(path)).body
    expect(evidences).toHaveLength(2)
    expect(evidences[0]).toEqual(made.body)
    expect(evidences[1].sha).not.toBe(evidences[0].sha)
    const at = new URL(made.body.filepath).pathname
    const read = await fetch(`${world.url}${at}`)
    const text = await read.text()
    expect(createHash('sha256').update(text).digest('hex')).toBe(made.body.sha)
    expect(JSON.parse(text).release).toMatchObject({
      tag_name,
      description: 'before',
      milestones: [{ title: 'proof', issues: [{ title: 'Open to all' }] }],
    })
    expect(text).not.toContain('Secret')
    expect((await ana.get(`${path}/evidence/999999`)).status).toBe(404)
    expect((await ana.post(`${releases}/nothing/evidence`)).status).toBe(404)
    const guest = await world.user('proofguest')
    expect((await guest.post(`${path}/evidence`)).status).toBe(403)
    expect((await guest.get(`${path}/evidence/1`)).status).toBe(200)
  })
})

describe('in a private project', () => {
  let project: TestProject
  let at: string
  let releases: string

  beforeAll(async () => {
    project = await addProject(world, ana, 'basic', { path: 'closed' })
    at = `/projects/${project.id}`
    releases = `${at}/releases`
  })

  const tagsOf = (body: readonly { tag_name: string }[]) => body.map((one) => one.tag_name)

  describe('a release', () => {
    test('is shown in full', async () => {
      const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'm1' })
      await ana.post(`${at}/issues`, { title: 'done', milestone_id: milestone.id })
      await ana.post(`${at}/issues`, { title: 'open', milestone_id: milestone.id })
      await ana.put(`${at}/issues/1`, { state_event: 'close' })
      const made = await ana.post(releases, {
        tag_name: 'v1.0',
        ref: 'main',
        name: 'The first',
        description: 'Big **news**',
        milestone_ids: [milestone.id],
        released_at: '2026-05-01T08:00:00Z',
      })
      const web = `${world.app.config.externalUrl}/${project.fullPath}`
      expect([made.status, made.body]).toMatchObject([
        201,
        {
          tag_name: 'v1.0',
          name: 'The first',
          description: 'Big **news**',
          created_at: '2026-05-04T10:00:00.000Z',
          released_at: '2026-05-01T08:00:00.000Z',
          upcoming_release: false,
          author: { username: 'ana' },
          commit: { id: project.git('rev-parse', 'main') },
          milestones: [{ title: 'm1', issue_stats: { total: 2, closed: 1 } }],
          assets: { count: 4, links: [] },
          evidences: expect.any(Array),
          _links: { self: `${web}/-/releases/v1.0` },
        },
      ])
      expect(made.body.assets.sources.map((one: { format: string }) => one.format)).toEqual([
        'zip',
        'tar.gz',
        'tar.bz2',
        'tar',
      ])
      expect((await ana.get(`${releases}/v1.0`)).body).toEqual(made.body)
    })

    test('changes what an update names, and nothing else', async () => {
      await ana.post(`${at}/milestones`, { title: 'm2' })
      const one = `${releases}/v1.0`
      const wanted: [object, object][] = [
        [{ name: 'First of all' }, { name: 'First of all' }],
        [{ description: 'Less' }, { description: 'Less' }],
        [{ released_at: '2026-06-01T00:00:00Z' }, { upcoming_release: true }],
        [{ released_at: '2026-05-02T00:00:00Z' }, { upcoming_release: false }],
        [{ milestones: 'm1,m2' }, { milestones: [{ title: 'm1' }, { title: 'm2' }] }],
        [{ milestones: [] }, { milestones: [] }],
        [{ name: '' }, { name: 'v1.0' }],
      ]
      for (const [change, result] of wanted) {
        const reply = await ana.put(one, change)
        expect([change, reply.status]).toEqual([change, 200])
        expect(reply.body).toMatchObject({ tag_name: 'v1.0', ...result })
        expect((await ana.get(one)).body).toEqual(reply.body)
      }
    })

    test('is refused with attributes that are not valid, and no tag is made then', async () => {
      const link = { name: 'a', url: 'https://x.example/a' }
      const refusals: [object, number, object][] = [
        [{}, 400, { error: 'tag_name is missing' }],
        [{ tag_name: ' ', ref: 'main' }, 400, { message: { tag: ["can't be blank"] } }],
        [{ tag_name: 'v1.0', ref: 'main' }, 409, { message: 'Release already exists' }],
        [{ tag_name: 'odd' }, 422, { message: 'Ref is not specified' }],
        [
          { tag_name: 'odd', ref: 'main', milestones: ['none'] },
          400,
          { message: '400 Bad request - Milestone(s) not found: none' },
        ],
        [
          { tag_name: 'odd', ref: 'main', milestone_ids: [123_456] },
          400,
          { message: '400 Bad request - Milestone id(s) not found: 123456' },
        ],
        [
          { tag_name: 'odd', ref: 'main', released_at: 'soon' },
          400,
          { error: 'released_at is invalid' },
        ],
        [
          { tag_name: 'odd', ref: 'main', assets: { links: [link, link] } },
          400,
          { message: { name: ['has already been taken'] } },
        ],
        [
          { tag_name: 'odd', ref: 'main', assets: { links: [link, { ...link, name: 'b' }] } },
          400,
          { message: { url: ['has already been taken'] } },
        ],
        [
          { tag_name: 'odd', ref: 'main', assets: { links: [{ name: 'a', url: 'x' }] } },
          400,
          { message: { url: ['is blocked: Only allowed schemes are http, https, ftp'] } },
        ],
      ]
      for (const [body, status, answer] of refusals) {
        const reply = await ana.post(releases, body)
        expect([body, reply.status, reply.body]).toEqual([body, status, answer])
      }
      expect(project.git('tag', '--list', 'odd')).toBe('')
      const unknown = await ana.put(`${releases}/none`, { name: 'x' })
      expect([unknown.status, (await ana.get(`${releases}/none`)).status]).toEqual([404, 404])
    })

    test('is deleted with its links, and its tag stays for another', async () => {
      const link = { name: 'a', url: 'https://x.example/a', filepath: '/a' }
      await ana.post(releases, { tag_name: 'brief', ref: 'main', assets: { links: [link] } })
      expect((await ana.get(`${releases}/brief/downloads/a`)).status).toBe(302)
      expect((await ana.delete(`${releases}/brief`)).body).toMatchObject({ tag_name: 'brief' })
      expect((await ana.get(`${releases}/brief/assets/links`)).status).toBe(404)
      const again = await ana.post(releases, { tag_name: 'brief' })
      expect([again.status, again.body.assets.links]).toEqual([201, []])
    })
  })

  describe('links of a release', () => {
    test('keep each attribute that they are made with, and each that is changed', async () => {
      const links = `${releases}/v1.0/assets/links`
      const made = await ana.post(links, {
        name: 'Handbook',
        url: 'https://x.example/handbook',
        filepath: '/docs/handbook',
        link_type: 'runbook',
      })
      const web = `${world.app.config.externalUrl}/${project.fullPath}/-/releases/v1.0/downloads`
      expect([made.status, made.body]).toEqual([
        201,
        {
          id: made.body.id,
          name: 'Handbook',
          url: 'https://x.example/handbook',
          direct_asset_url: `${web}/docs/handbook`,
          link_type: 'runbook',
        },
      ])
      const one = `${links}/${made.body.id}`
      const changed = await ana.put(one, {
        name: 'Picture',
        url: 'ftp://x.example/picture',
        direct_asset_path: '/picture',
        link_type: 'image',
      })
      expect(changed.body).toMatchObject({
        name: 'Picture',
        url: 'ftp://x.example/picture',
        direct_asset_url: `${web}/picture`,
        link_type: 'image',
      })
      expect((await ana.get(one)).body).toEqual(changed.body)
      expect((await ana.get(`${releases}/v1.0/downloads/docs/handbook`)).status).toBe(404)
      const { body: plain } = await ana.post(links, { name: 'Plain', url: 'http://x.example/' })
      expect(plain).toMatchObject({ link_type: 'other', direct_asset_url: 'http://x.example/' })
      const listed = await ana.get(`${links}?per_page=1`)
      expect([listed.body, listed.headers.get('x-total')]).toEqual([[plain], '2'])
      expect((await ana.get(`${releases}/v1.0`)).body.assets).toMatchObject({ count: 6 })
      for (const [body, answer] of [
        [{ name: 'Picture' }, { message: { name: ['has already been taken'] } }],
        [{ url: 'ftp://x.example/picture' }, { message: { url: ['has already been taken'] } }],
        [
          { name: 'Plain', filepath: '/picture' },
          { message: { filepath: ['has already been taken'] } },
        ],
        [
          { name: 'Plain', filepath: 'no slash' },
          { message: { filepath: ['is in an invalid format'] } },
        ],
        [{ name: 'Plain', link_type: 'odd' }, { error: 'link_type does not have a valid value' }],
      ] as const) {
        const reply = await ana.put(`${links}/${plain.id}`, body)
        expect([body, reply.status, reply.body]).toEqual([body, 400, answer])
      }
      expect((await ana.delete(one)).body).toEqual(changed.body)
      expect((await ana.delete(one)).status).toBe(404)
    })
  })

  test('releases are listed by either date, both ways, in pages', async () => {
    const place = await addProject(world, ana, 'basic', { path: 'listed' })
    const list = `/projects/${place.id}/releases`
    const days = ['2026-05-03', '2026-05-01', '2026-05-02']
    for (const [n, day] of days.entries()) {
      world.setNow(`2026-05-0${n + 4}T10:00:00.000Z`)
      await ana.post(list, { tag_name: `r${n}`, ref: 'main', released_at: `${day}T00:00:00Z` })
    }
    const expected: [string, string[]][] = [
      ['', ['r0', 'r2', 'r1']],
      ['sort=asc', ['r1', 'r2', 'r0']],
      ['order_by=created_at', ['r2', 'r1', 'r0']],
      ['order_by=created_at&sort=asc', ['r0', 'r1', 'r2']],
      ['updated_after=2026-05-05T00:00:00Z', ['r2', 'r1']],
      ['updated_before=2026-05-05T00:00:00Z', ['r0']],
      ['per_page=2&page=2', ['r1']],
    ]
    for (const [query, tags] of expected) {
      expect([query, tagsOf((await ana.get(`${list}?${query}`)).body)]).toEqual([query, tags])
    }
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})
