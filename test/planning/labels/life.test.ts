import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const namesOf = (body: readonly { name: string }[]) => body.map((label) => label.name)

async function group(path: string, more: object = {}) {
  return (await createGroup(ana, path, more)).id
}

async function project(name: string, more: object = {}) {
  return (await createProject(ana, name, more)).id
}

describe.each(['projects', 'groups'] as const)('labels of %s', (kind) => {
  let labels: string

  beforeAll(async () => {
    const id = kind === 'groups' ? await group('tagged') : await project('tagged-one')
    labels = `/${kind}/${id}/labels`
  })

  test('keep every attribute that is given and changed', async () => {
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

  test('may be archived from the beginning, and listed by that', async () => {
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

  test('refuse what is no label, and a name that another has', async () => {
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

test('a deleted label leaves issues and boards, and its events tell of nothing', async () => {
  const at = `/projects/${await project('leaving')}`
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

test('a renamed label shows its new name wherever it hangs', async () => {
  const at = `/projects/${await project('renaming')}`
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
    top = await group('tree')
    sub = await group('sub', { parent_id: top })
    inside = await project('inside', { namespace_id: sub })
    await ana.post(`/groups/${top}/labels`, { name: 'top', color: 'red' })
    await ana.post(`/groups/${sub}/labels`, { name: 'sub', color: 'red' })
    await ana.post(`/projects/${inside}/labels`, { name: 'own', color: 'red' })
  })

  const listed = async (path: string) => namesOf((await ana.get(path)).body)

  test('are lent to everything below, unless the list wants its own alone', async () => {
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

  test('stand beside those of its projects where the list asks for more than its own', async () => {
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
    const prior = await ana.put(`${at}/labels/top`, { priority: 4 })
    expect(prior.body).toMatchObject({
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

  test('come of project labels that are promoted, with all that hung on their namesakes', async () => {
    const other = await project('beside', { namespace_id: sub })
    const pasts = [inside, other]
    for (const id of pasts) {
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
    for (const id of pasts) {
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

  test('take in a project label of the same name that is promoted', async () => {
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
    const alone = await project('alone')
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

test('counts tell nothing of merge requests that the caller may not see', async () => {
  const id = await project('counted', {
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
