import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let at: string
let releases: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
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

  test('is not made or changed by what does not fit, and leaves no tag then', async () => {
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

  test('goes without its links, and its tag stays for another', async () => {
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
  test('keep what is given and changed', async () => {
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
