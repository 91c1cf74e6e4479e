import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let labels: string

beforeAll(async () => {
  project = await addProject(world, ana, 'empty', { visibility: 'public' })
  labels = `/projects/${project.id}/labels`
})

const namesOf = (body: readonly { name: string }[]) => body.map((label) => label.name)

async function newGroup(path: string, more: object = {}) {
  return (await createGroup(ana, path, more)).id
}

async function newProject(name: string, more: object = {}) {
  return (await createProject(ana, name, more)).id
}

describe('labels of a project', () => {
  test('are created, read by id and by name, changed and deleted', async () => {
    const created = await ana.post(labels, { name: 'type: bug now', color: '#F00', priority: 3 })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      name: 'type: bug now',
      color: '#FF0000',
      text_color: '#FFFFFF',
      priority: 3,
      is_project_label: true,
      subscribed: false,
    })
    const byName = await ana.get(`${labels}/${encodeURIComponent('type: bug now')}`)
    expect(byName.body).toEqual(created.body)
    const renamed = await ana.put(`${labels}/${created.body.id}`, {
      new_name: 'a::b',
      priority: null,
    })
    expect(renamed.body).toMatchObject({ name: 'a::b', priority: null })
    expect((await ana.delete(`${labels}/${created.body.id}`)).status).toBe(204)
    expect((await ana.get(`${labels}/${created.body.id}`)).body).toEqual({
      message: '404 Label Not Found',
    })
  })

  test('are changed and deleted by a name in the body', async () => {
    await ana.post(labels, { name: 'by name', color: 'teal' })
    const changed = await ana.put(labels, { name: 'by name', new_name: 'other name' })
    expect(changed.body.name).toBe('other name')
    expect((await ana.delete(`${labels}?name=other%20name`)).status).toBe(204)
    expect((await ana.put(labels, { color: 'red' })).status).toBe(400)
  })

  test('have a title once: of fifty at the same time one is made', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => ana.post(labels, { name: 'race', color: 'red' })),
    )
    const counts = replies.map((reply) => reply.status).sort()
    expect(counts.filter((status) => status === 201)).toHaveLength(1)
    const refused = replies.find((reply) => reply.status === 409)
    expect(refused?.body).toEqual({ message: 'Label already exists' })
  })

  test.each([
    [{ name: 'x' }, { error: 'color is missing' }],
    [{ color: 'red' }, { error: 'name is missing' }],
    [{ name: 'x', color: 'no colour' }, { message: { color: ['must be a valid color code'] } }],
    [{ name: 'a,b', color: 'red' }, { message: { title: ['is invalid'] } }],
    [{ name: ' ', color: 'red' }, { message: { title: ['is invalid'] } }],
  ])('%j is refused', async (body, answer) => {
    const reply = await ana.post(labels, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('are read by anyone on a public project and written by members only', async () => {
    const stranger = await world.user('stranger')
    expect((await world.nobody.get(labels)).status).toBe(200)
    expect((await stranger.post(labels, { name: 'mine', color: 'red' })).status).toBe(403)
    expect((await world.nobody.post(labels, { name: 'mine', color: 'red' })).status).toBe(401)
    await addMember(world, project.id, stranger.id, 10)
    expect((await stranger.post(labels, { name: 'mine', color: 'red' })).status).toBe(403)
    await addMember(world, project.id, stranger.id, 15)
    expect((await stranger.post(labels, { name: 'mine', color: 'red' })).status).toBe(201)
  })

  test('are followed; a second time changes nothing', async () => {
    const { body } = await ana.post(labels, { name: 'followed', color: 'red' })
    const first = await ana.post(`${labels}/${body.id}/subscribe`)
    expect([first.status, first.body.subscribed]).toEqual([201, true])
    expect((await ana.post(`${labels}/${body.id}/subscribe`)).status).toBe(304)
    expect((await ana.post(`${labels}/${body.id}/unsubscribe`)).body.subscribed).toBe(false)
  })

  test('are paged by title, each exactly once', async () => {
    for (let n = 0; n < 25; n += 1) await ana.post(labels, { name: `page ${n}`, color: 'red' })
    const names: string[] = []
    for (let page = 1; ; page += 1) {
      const reply = await ana.get(`${labels}?per_page=7&page=${page}&search=page`)
      names.push(...reply.body.map((label: { name: string }) => label.name))
      expect(reply.headers.get('x-total')).toBe('25')
      if (reply.headers.get('x-next-page') === '') break
    }
    expect(new Set(names).size).toBe(25)
    expect(names).toEqual([...names].sort())
  })
})

test('labels of a group are followed, too', async () => {
  const group = await createGroup(ana, 'followed')
  const labels = `/groups/${group.id}/labels`
  const { body: label } = await ana.post(labels, { name: 'news', color: 'red' })
  const followed = await ana.post(`${labels}/${label.id}/subscribe`)
  expect([followed.status, followed.body.subscribed]).toEqual([201, true])
  expect((await ana.post(`${labels}/${label.id}/subscribe`)).status).toBe(304)
  expect((await ana.post(`${labels}/news/unsubscribe`)).body.subscribed).toBe(false)
})

describe.each(['projects', 'groups'] as const)('labels of %s', (kind) => {
  let labels: string

  beforeAll(async () => {
    const id = kind === 'groups' ? await newGroup('tagged') : await newProject('tagged-one')
    labels = `/${kind}/${id}/labels`
  })

  test('keep every attribute that they are made with, and each that is changed', async () => {
    const made = await ana.post(labels, {
      name: 'kind: bug',
      color: '#abc',
      description: 'Something *broke*',
    })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: made.body.id,
      name: 'kind: bug',
      description: 'Something *broke*',
      description_html: expect.stringContaining('<em>broke</em>'),
      text_color: '#1F1E24',
      color: '#aabbcc',
      archived: false,
      subscribed: false,
      priority: null,
      is_project_label: kind === 'projects',
    })
    const one = `${labels}/${encodeURIComponent('kind: bug')}`
    const changed = await ana.put(one, {
      new_name: 'kind: fault',
      color: 'black',
      description: null,
      archived: true,
    })
    expect(changed.body).toMatchObject({
      id: made.body.id,
      name: 'kind: fault',
      color: '#000000',
      text_color: '#FFFFFF',
      description: null,
      archived: true,
    })
    expect((await ana.get(`${labels}/${made.body.id}`)).body).toEqual(changed.body)
    expect((await ana.get(one)).body).toEqual({
      message: '404 Label Not Found',
    })
  })

  test('can be made archived, and are listed by that', async () => {
    const kept = await ana.post(labels, { name: 'kept', color: 'red' })
    const old = await ana.post(labels, {
      name: 'old',
      color: 'red',
      archived: true,
    })
    expect([kept.body.archived, old.body.archived]).toEqual([false, true])
    const archived = await ana.get(`${labels}?archived=true`)
    expect(namesOf(archived.body)).toContain('old')
    expect(namesOf(archived.body)).not.toContain('kept')
    expect(namesOf((await ana.get(`${labels}?archived=false`)).body)).not.toContain('old')
  })

  test('are searched by title and description, signs taken literally', async () => {
    await ana.post(labels, {
      name: 'about 100%',
      color: 'red',
      description: 'finished_work',
    })
    await ana.post(labels, {
      name: 'about 100x',
      color: 'red',
      description: 'finishedXwork',
    })
    expect(namesOf((await ana.get(`${labels}?search=100%25`)).body)).toEqual(['about 100%'])
    expect(namesOf((await ana.get(`${labels}?search=finished_work`)).body)).toEqual(['about 100%'])
    expect((await ana.get(`${labels}?search=ABOUT`)).body).toHaveLength(2)
  })

  test('refuse attributes that are not valid, and a name that another has', async () => {
    await ana.post(labels, { name: 'taken', color: 'red' })
    const { body: other } = await ana.post(labels, {
      name: 'other',
      color: 'red',
    })
    const one = `${labels}/${other.id}`
    const refusals: [object, number, object][] = [
      [{ new_name: 'taken' }, 409, { message: 'Label already exists' }],
      [{ new_name: 'a,b' }, 400, { message: { title: ['is invalid'] } }],
      [{ new_name: 'x'.repeat(256) }, 400, { message: { title: ['is invalid'] } }],
      [{ color: '#12' }, 400, { message: { color: ['must be a valid color code'] } }],
      [{ priority: -1 }, 400, { error: 'priority does not have a valid value' }],
      [{ priority: 'high' }, 400, { error: 'priority is invalid' }],
    ]
    for (const [body, status, answer] of refusals) {
      const reply = await ana.put(one, body)
      expect([body, reply.status, reply.body]).toEqual([body, status, answer])
    }
    const nothing = await ana.put(one, {})
    expect(nothing.status).toBe(400)
    expect(nothing.body.error).toMatch(/at least one parameter must be provided$/)
    expect((await ana.get(one)).body).toMatchObject({
      name: 'other',
      color: '#FF0000',
    })
  })

  test('are changed and deleted without an id in the path, by id or by name', async () => {
    const { body } = await ana.post(labels, { name: 'bodily', color: 'red' })
    const byId = await ana.put(labels, { label_id: body.id, color: '#00f' })
    expect(byId.body).toMatchObject({ name: 'bodily', color: '#0000ff' })
    const unknown = await ana.put(labels, { name: 'nobody', color: '#00f' })
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 Label Not Found' }])
    expect((await ana.delete(`${labels}?label_id=${body.id}`)).status).toBe(204)
    expect((await ana.delete(`${labels}?label_id=${body.id}`)).status).toBe(404)
    const none = await ana.delete(labels)
    expect([none.status, none.body]).toEqual([
      400,
      {
        error: 'label_id, name are missing, at least one parameter must be provided',
      },
    ])
  })
})

test('a deleted label is removed from issues and boards, and its events show no label', async () => {
  const at = `/projects/${await newProject('leaving')}`
  const { body: label } = await ana.post(`${at}/labels`, {
    name: 'gone',
    color: 'red',
  })
  const { body: issue } = await ana.post(`${at}/issues`, {
    title: 'x',
    labels: 'gone,stays',
  })
  expect((await ana.delete(`${at}/labels/gone`)).status).toBe(204)
  expect((await ana.get(`${at}/issues/${issue.iid}`)).body.labels).toEqual(['stays'])
  expect((await ana.get(`${at}/issues?labels=gone`)).body).toEqual([])
  const events = await ana.get(`${at}/issues/${issue.iid}/resource_label_events`)
  expect(events.body.map((event: { label: { name: string } | null }) => event.label?.name)).toEqual(
    [undefined, 'stays'],
  )
  // The name is free for a new label, which is another one.
  const again = await ana.post(`${at}/labels`, { name: 'gone', color: 'red' })
  expect([again.status, again.body.id === label.id]).toEqual([201, false])
})

test('a renamed label has its new name on issues, too', async () => {
  const at = `/projects/${await newProject('renaming')}`
  await ana.post(`${at}/labels`, { name: 'before', color: 'red' })
  await ana.post(`${at}/issues`, { title: 'x', labels: 'before' })
  await ana.put(`${at}/labels/before`, { new_name: 'after' })
  expect((await ana.get(`${at}/issues/1`)).body.labels).toEqual(['after'])
  const found = await ana.get(`${at}/issues?labels=after&with_labels_details=true`)
  expect(found.body[0].labels).toMatchObject([{ name: 'after', color: '#FF0000' }])
})

describe('labels of a group', () => {
  let top: number
  let sub: number
  let inside: number

  beforeAll(async () => {
    top = await newGroup('tree')
    sub = await newGroup('sub', { parent_id: top })
    inside = await newProject('inside', { namespace_id: sub })
    await ana.post(`/groups/${top}/labels`, { name: 'top', color: 'red' })
    await ana.post(`/groups/${sub}/labels`, { name: 'sub', color: 'red' })
    await ana.post(`/projects/${inside}/labels`, { name: 'own', color: 'red' })
  })

  const listed = async (path: string) => namesOf((await ana.get(path)).body)

  test('are listed below, unless the list asks for its own only', async () => {
    expect(await listed(`/projects/${inside}/labels`)).toEqual(['own', 'sub', 'top'])
    expect(await listed(`/projects/${inside}/labels?include_ancestor_groups=false`)).toEqual([
      'own',
    ])
    expect(await listed(`/groups/${sub}/labels`)).toEqual(['sub', 'top'])
    expect(await listed(`/groups/${sub}/labels?include_ancestor_groups=false`)).toEqual(['sub'])
    expect(await listed(`/groups/${top}/labels`)).toEqual(['top'])
    expect(await listed(`/groups/${top}/labels?include_descendant_groups=true`)).toEqual([
      'sub',
      'top',
    ])
  })

  test('are listed with those of its projects where the list asks for more than its own', async () => {
    const more = 'include_descendant_groups=true&only_group_labels=false'
    expect(await listed(`/groups/${top}/labels?${more}`)).toEqual(['own', 'sub', 'top'])
    expect(await listed(`/groups/${sub}/labels?only_group_labels=false`)).toEqual([
      'own',
      'sub',
      'top',
    ])
    expect(await listed(`/groups/${top}/labels?only_group_labels=false`)).toEqual(['top'])
    expect(await listed(`/groups/${sub}/labels?only_group_labels=true`)).toEqual(['sub', 'top'])
    const outsider = await world.user('label-outsider')
    await ana.put(`/groups/${top}`, { visibility: 'public' })
    const seen = await outsider.get(`/groups/${top}/labels?${more}`)
    expect(namesOf(seen.body)).toEqual(['top'])
    await ana.put(`/groups/${top}`, { visibility: 'private' })
  })

  test('are used by projects, which set only their own priority of them', async () => {
    const at = `/projects/${inside}`
    const ranked = await ana.put(`${at}/labels/top`, { priority: 4 })
    expect(ranked.body).toMatchObject({
      name: 'top',
      priority: 4,
      is_project_label: false,
    })
    expect((await ana.get(`${at}/labels/top`)).body.priority).toBe(4)
    expect((await ana.get(`/groups/${top}/labels/top`)).body.priority).toBeNull()
    const renamed = await ana.put(`${at}/labels/top`, { new_name: 'mine' })
    expect([renamed.status, renamed.body]).toEqual([403, { message: '403 Forbidden' }])
    expect((await ana.delete(`${at}/labels/top`)).status).toBe(403)
    const { body: issue } = await ana.post(`${at}/issues`, {
      title: 'x',
      labels: ['top', 'sub'],
    })
    expect(issue.labels).toEqual(['sub', 'top'])
    // No project label was made of them.
    expect(await listed(`${at}/labels?include_ancestor_groups=false`)).toEqual(['own'])
  })

  test('are made by promotion, and replace labels of that name in all projects below', async () => {
    const other = await newProject('beside', { namespace_id: sub })
    const both = [inside, other]
    for (const id of both) {
      await ana.post(`/projects/${id}/labels`, {
        name: 'shared',
        color: 'red',
        priority: id,
      })
      await ana.post(`/projects/${id}/issues`, {
        title: 'with it',
        labels: 'shared',
      })
    }
    const shared = (await ana.get(`/projects/${other}/labels/shared`)).body
    const { body: board } = await ana.post(`/projects/${other}/boards`, {
      name: 'b',
    })
    await ana.post(`/projects/${other}/boards/${board.id}/lists`, {
      label_id: shared.id,
    })
    await ana.post(`/projects/${other}/labels/shared/subscribe`)
    const promoted = await ana.put(`/projects/${inside}/labels/shared/promote`)
    expect([promoted.status, promoted.body.is_project_label]).toEqual([200, false])
    expect((await ana.get(`/groups/${sub}/labels/shared`)).body.id).toBe(promoted.body.id)
    for (const id of both) {
      const { body: issues } = await ana.get(`/projects/${id}/issues?labels=shared`)
      expect(issues).toHaveLength(1)
      const { body: label } = await ana.get(`/projects/${id}/labels/shared`)
      expect(label).toMatchObject({ id: promoted.body.id, priority: id })
      const events = await ana.get(`/projects/${id}/issues/${issues[0].iid}/resource_label_events`)
      expect(events.body[0].label.name).toBe('shared')
    }
    const lists = (await ana.get(`/projects/${other}/boards/${board.id}/lists`)).body
    expect(lists).toMatchObject([{ label: { id: promoted.body.id } }])
    expect((await ana.get(`/projects/${other}/labels/shared`)).body.subscribed).toBe(true)
  })

  test('replace a project label of the same name that is promoted', async () => {
    await ana.post(`/projects/${inside}/labels`, {
      name: 'twin',
      color: 'red',
    })
    await ana.post(`/projects/${inside}/issues`, {
      title: 'twin',
      labels: 'twin',
    })
    const { body: of } = await ana.post(`/groups/${sub}/labels`, {
      name: 'twin',
      color: 'blue',
    })
    const promoted = await ana.put(`/projects/${inside}/labels/twin/promote`)
    expect([promoted.status, promoted.body.id, promoted.body.color]).toEqual([
      200,
      of.id,
      '#0000FF',
    ])
    expect((await ana.get(`/projects/${inside}/issues?labels=twin`)).body).toHaveLength(1)
    expect((await ana.get(`/projects/${inside}/labels?search=twin`)).body).toHaveLength(1)
  })

  test('are promoted only where there is a group', async () => {
    const alone = await newProject('alone')
    await ana.post(`/projects/${alone}/labels`, {
      name: 'lonely',
      color: 'red',
    })
    const reply = await ana.put(`/projects/${alone}/labels/lonely/promote`)
    expect([reply.status, reply.body]).toEqual([
      400,
      {
        message: '400 Bad request - Failed to promote project label to group label',
      },
    ])
  })
})

test('counts leave out merge requests that the caller may not see', async () => {
  const id = await newProject('counted', {
    visibility: 'public',
    merge_requests_access_level: 'private',
    initialize_with_readme: true,
  })
  const at = `/projects/${id}`
  await ana.post(`${at}/repository/branches`, { branch: 'work', ref: 'main' })
  const request = {
    source_branch: 'work',
    target_branch: 'main',
    title: 'x',
    labels: 'hot',
  }
  expect((await ana.post(`${at}/merge_requests`, request)).status).toBe(201)
  const counts = async (who: Caller) =>
    (await who.get(`${at}/labels?with_counts=true`)).body[0].open_merge_requests_count
  expect(await counts(ana)).toBe(1)
  expect(await counts(world.nobody)).toBe(0)
})
