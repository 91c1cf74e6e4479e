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

  test('are once for each tag, and need one', async () => {
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

  test('keep links with names and URLs of their own', async () => {
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
  test('keeps what a release said, with the hash of that very text', async () => {
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
