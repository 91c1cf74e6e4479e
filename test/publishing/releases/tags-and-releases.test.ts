import { beforeAll, describe, expect, test } from 'vitest'
import { actAs } from '../../../src/access/act-as.ts'
import { getVisibleProject } from '../../../src/access/subjects.ts'
import { recoverPushes } from '../../../src/repositories/refs/journal/recover.ts'
import { moveRefs } from '../../../src/repositories/refs/move-refs.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { gitClient } from '../../support/git-client.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let releases: string
let tags: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project, dev, 30)
  releases = `/projects/${project.id}/releases`
  tags = `${project.api}/tags`
})

describe('the tag of a release', () => {
  test('is lightweight without a message and annotated with one', async () => {
    await ana.post(releases, { tag_name: 'light', ref: 'main' })
    await ana.post(releases, {
      tag_name: 'heavy',
      ref: 'main',
      tag_message: 'Said of the tag',
    })
    expect(project.git('cat-file', '-t', 'refs/tags/light')).toBe('commit')
    expect(project.git('cat-file', '-t', 'refs/tags/heavy')).toBe('tag')
    expect((await ana.get(`${tags}/light`)).body).toMatchObject({
      message: null,
      created_at: null,
      release: { tag_name: 'light', description: null },
    })
    expect((await ana.get(`${tags}/heavy`)).body).toMatchObject({
      message: 'Said of the tag',
      target: project.git('rev-parse', 'refs/tags/heavy'),
      created_at: '2026-05-04T10:00:00.000+00:00',
    })
    const { body } = await ana.get(`${releases}/heavy`)
    expect(body.commit.id).toBe(project.git('rev-parse', 'main'))
  })

  test('that is there stays where it is, whatever ref is given', async () => {
    await ana.post(tags, { tag_name: 'fixed', ref: 'v1.0.0' })
    const before = project.git('rev-parse', 'refs/tags/fixed')
    const made = await ana.post(releases, {
      tag_name: 'fixed',
      ref: 'main',
      tag_message: 'no',
    })
    expect([made.status, made.body.commit.id]).toEqual([
      201,
      project.git('rev-parse', 'v1.0.0^{commit}'),
    ])
    expect(project.git('rev-parse', 'refs/tags/fixed')).toBe(before)
  })

  test.each([
    ['nowhere', 'Target nowhere is invalid'],
    ['-x', 'Target -x is invalid'],
  ])('cannot be made from %s', async (ref, message) => {
    const made = await ana.post(releases, { tag_name: 'lost', ref })
    expect([made.status, made.body]).toEqual([400, { message }])
    expect((await ana.get(`${tags}/lost`)).status).toBe(404)
  })

  test('cannot have a name that is none', async () => {
    const made = await ana.post(releases, { tag_name: 'a..b', ref: 'main' })
    expect([made.status, made.body]).toEqual([400, { message: 'Tag name invalid' }])
  })

  test('takes its release along when it is deleted by the API', async () => {
    await ana.post(releases, { tag_name: 'short-lived', ref: 'main' })
    expect((await ana.delete(`${tags}/short-lived`)).status).toBe(204)
    expect((await ana.get(`${releases}/short-lived`)).status).toBe(404)
    const again = await ana.post(releases, {
      tag_name: 'short-lived',
      ref: 'main',
    })
    expect(again.status).toBe(201)
  })

  test('takes its release along after the next start when the server ends in between', async () => {
    for (const tag of ['cut-off', 'made-again'])
      await ana.post(releases, { tag_name: tag, ref: 'main' })
    const ctx = await actAs(world.ctx, ana.id)
    const crash = new Error('crash')
    for (const tag of ['cut-off', 'made-again']) {
      const oldId = project.git('rev-parse', `refs/tags/${tag}`)
      const move = { name: `refs/tags/${tag}`, oldId, newId: '0'.repeat(40) }
      const push = { via: 'api', moves: [move] } as const
      const found = await getVisibleProject(ctx, String(project.id))
      const deletion = moveRefs(ctx, found, push, (step) => {
        if (step === 'after refs') throw crash
      })
      await expect(deletion).rejects.toBe(crash)
    }
    await ana.delete(`${releases}/made-again`)
    world.setNow('2026-05-04T10:01:00.000Z')
    await ana.post(releases, { tag_name: 'made-again', ref: 'main' })
    await recoverPushes(world.ctx)
    await world.runTasks()
    expect((await ana.get(`${releases}/cut-off`)).status).toBe(404)
    expect((await ana.get(`${releases}/made-again`)).status).toBe(200)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('leaves its release behind when it is deleted by a push', async () => {
    await ana.post(releases, { tag_name: 'pushed-away', ref: 'main' })
    const remote = new URL(`${world.url}/${project.fullPath}.git`)
    remote.username = 'ana'
    remote.password = ana.token ?? ''
    await gitClient(project.path, ['push', '-q', remote.href, ':refs/tags/pushed-away'])
    await world.runTasks()
    expect((await ana.get(`${tags}/pushed-away`)).status).toBe(404)
    expect((await ana.get(`${releases}/pushed-away`)).status).toBe(200)
    expect((await ana.delete(`${releases}/pushed-away`)).status).toBe(200)
  })

  test.each(['rel/1.0', '版本/一', 'v1.0+meta', 'a#b', '1.0.json'])(
    'named %s is read, changed and deleted',
    async (tag) => {
      const made = await ana.post(releases, { tag_name: tag, ref: 'main' })
      expect([made.status, made.body.tag_name, made.body.name]).toEqual([201, tag, tag])
      const one = `${releases}/${encodeURIComponent(tag)}`
      expect((await ana.get(one)).body).toEqual(made.body)
      expect((await ana.put(one, { name: 'Other' })).body.name).toBe('Other')
      const links = `${one}/assets/links`
      const link = await ana.post(links, {
        name: 'a',
        url: 'https://x.example/a',
        filepath: '/a',
      })
      const direct = new URL(link.body.direct_asset_url).pathname
      expect(decodeURIComponent(direct)).toBe(`/${project.fullPath}/-/releases/${tag}/downloads/a`)
      expect((await ana.get(`${one}/downloads/a`)).headers.get('location')).toBe(
        'https://x.example/a',
      )
      expect((await ana.delete(one)).status).toBe(200)
      expect((await ana.get(`${tags}/${encodeURIComponent(tag)}`)).body.release).toBeNull()
    },
  )
})

describe('the newest release', () => {
  test('is the one released last, not the one made last, and keeps what follows its address', async () => {
    const place = await addProject(world, ana, 'basic', { path: 'newest' })
    const list = `/projects/${place.id}/releases`
    const latest = `${list}/permalink/latest`
    expect((await ana.get(latest)).status).toBe(404)
    const made: [string, string][] = [
      ['new', '2026-05-03T00:00:00Z'],
      ['old', '2026-05-01T00:00:00Z'],
    ]
    for (const [tag_name, released_at] of made) {
      await ana.post(list, { tag_name, ref: 'main', released_at })
    }
    const base = `${world.app.config.externalUrl}/api/v4${list}/new`
    const found = await ana.get(latest)
    expect([found.status, found.headers.get('location')]).toEqual([302, base])
    const below = await ana.get(`${latest}/downloads/bin/a%20b`)
    expect(below.headers.get('location')).toBe(`${base}/downloads/bin/a%20b`)
    await ana.put(`${list}/old`, { released_at: '2026-05-04T00:00:00Z' })
    expect((await ana.get(latest)).headers.get('location')).toContain(`${list}/old`)
  })
})

describe('milestones of a release', () => {
  test('may be those of the groups above, and not of others', async () => {
    const group = (await createGroup(ana, 'top')).id
    const sub = (await createGroup(ana, 'sub', { parent_id: group })).id
    const { id } = await createProject(ana, 'p', {
      namespace_id: sub,
      initialize_with_readme: true,
    })
    await ana.post(`/groups/${group}/milestones`, { title: 'from-above' })
    await ana.post(`/projects/${project.id}/milestones`, {
      title: 'elsewhere',
    })
    const at = `/projects/${id}/releases`
    const made = await ana.post(at, {
      tag_name: 'v1',
      ref: 'main',
      milestones: ['from-above'],
    })
    expect([made.status, made.body.milestones]).toMatchObject([201, [{ title: 'from-above' }]])
    const other = await ana.put(`${at}/v1`, { milestones: ['elsewhere'] })
    expect([other.status, other.body]).toEqual([
      400,
      { message: '400 Bad request - Milestone(s) not found: elsewhere' },
    ])
    expect((await ana.get(`${at}/v1`)).body.milestones).toHaveLength(1)
  })

  test('leave it when they are deleted, and it stays', async () => {
    const at = `/projects/${project.id}`
    const { id } = (await ana.post(`${at}/milestones`, { title: 'brief' })).body
    await ana.post(releases, {
      tag_name: 'with-brief',
      ref: 'main',
      milestones: ['brief'],
    })
    expect((await ana.delete(`${at}/milestones/${id}`)).status).toBe(204)
    const read = await ana.get(`${releases}/with-brief`)
    expect([read.status, read.body.milestones]).toEqual([200, []])
  })

  test('are named by title or by id, not by both', async () => {
    const { id } = (await ana.post(`/projects/${project.id}/milestones`, { title: 'both' })).body
    const body = {
      tag_name: 'both',
      ref: 'main',
      milestones: ['both'],
      milestone_ids: [id],
    }
    const made = await ana.post(releases, body)
    expect([made.status, made.body]).toEqual([
      400,
      { error: 'milestones, milestone_ids are mutually exclusive' },
    ])
    await ana.post(releases, { tag_name: 'both', ref: 'main' })
    expect((await ana.put(`${releases}/both`, { ...body })).status).toBe(400)
  })
})

test('text as HTML is there only where it is asked for', async () => {
  await ana.post(releases, {
    tag_name: 'html',
    ref: 'main',
    description: '**b** <script>x</script>',
  })
  expect((await ana.get(`${releases}/html`)).body).not.toHaveProperty('description_html')
  const shown = await ana.get(`${releases}/html?include_html_description=true`)
  expect(shown.body.description_html).toContain('<strong>b</strong>')
  expect(shown.body.description_html).not.toContain('<script')
  const list = await ana.get(`${releases}?include_html_description=true&per_page=100`)
  expect(list.body.every((one: object) => 'description_html' in one)).toBe(true)
})

test('two that release one tag at once make it once', async () => {
  const body = { tag_name: 'raced', ref: 'main' }
  const replies = await Promise.all([ana, dev, ana, dev].map((who) => who.post(releases, body)))
  const statuses = replies.map((reply) => reply.status).sort()
  expect(statuses[0]).toBe(201)
  expect(statuses.slice(1).every((status) => status === 409 || status === 400)).toBe(true)
  expect((await ana.get(`${releases}/raced`)).status).toBe(200)
})

test('in an archived project releases are read and not written', async () => {
  const place = await addProject(world, ana, 'basic', { path: 'kept' })
  const list = `/projects/${place.id}/releases`
  await ana.post(list, { tag_name: 'one', ref: 'main' })
  await ana.post(`/projects/${place.id}/archive`)
  expect((await ana.get(`${list}/one`)).status).toBe(200)
  expect((await ana.post(list, { tag_name: 'two', ref: 'main' })).status).toBe(403)
  expect((await ana.put(`${list}/one`, { name: 'x' })).status).toBe(403)
  expect((await ana.delete(`${list}/one`)).status).toBe(403)
})
