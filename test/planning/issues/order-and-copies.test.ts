import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let project: TestProject
let issues: string

beforeAll(async () => {
  project = await addProject(world, ana, 'empty')
  await addMember(world, project.id, bea.id, 15)
  issues = `/projects/${project.id}/issues`
})

async function issue(title: string, more = {}) {
  const made = await ana.post(issues, { title, ...more })
  expect(made.status).toBe(201)
  return made.body
}

async function titles(query: string, path = issues): Promise<string[]> {
  const { status, body } = await ana.get(`${path}?per_page=100&${query}`)
  expect(status).toBe(200)
  return body.map((one: { title: string }) => one.title)
}

async function notes(path: string, who = ana): Promise<string[]> {
  const { body } = await who.get(`${path}/notes?sort=asc&per_page=100`)
  return body.map((note: { body: string }) => note.body)
}

describe('the order by hand', () => {
  test('holds however often two are put between the same neighbours', async () => {
    const place = await addProject(world, ana, 'empty', { path: 'ordered' })
    const path = `/projects/${place.id}/issues`
    const ids: number[] = []
    for (const title of ['a', 'b', 'c', 'd']) {
      ids.push((await ana.post(path, { title })).body.id)
    }
    const [a, b, c, d] = ids
    const put = (iid: number, body: object) => ana.put(`${path}/${iid}/reorder`, body)
    expect((await put(4, { move_after_id: a, move_before_id: b })).status).toBe(200)
    const listed = () => titles('order_by=relative_position', path)
    expect(await listed()).toEqual(['a', 'd', 'b', 'c'])
    for (let turn = 0; turn < 14; turn++) {
      await put(3, { move_after_id: a, move_before_id: turn % 2 === 0 ? d : b })
      await put(4, { move_after_id: a, move_before_id: c })
    }
    expect(await listed()).toEqual(['a', 'd', 'c', 'b'])
    await put(1, { move_after_id: b })
    await put(2, { move_before_id: d })
    expect(await listed()).toEqual(['b', 'd', 'c', 'a'])
    expect(await titles('order_by=relative_position&sort=desc', path)).toEqual(['a', 'c', 'd', 'b'])
  })

  test('needs neighbours of the same project, in their order', async () => {
    const first = await issue('first')
    const second = await issue('second')
    const path = `${issues}/${second.iid}/reorder`
    expect((await ana.put(path, {})).body.error).toContain('at least one parameter')
    expect((await ana.put(path, { move_after_id: 123_456 })).status).toBe(404)
    const third = await issue('third')
    const turned = { move_after_id: third.id, move_before_id: first.id }
    expect((await ana.put(path, turned)).status).toBe(400)
  })
})

describe('a clone', () => {
  test('is a copy that knows its origin, with notes when asked', async () => {
    const origin = await issue('origin', { labels: 'bug', weight: 3, assignee_ids: [bea.id] })
    await ana.post(`${issues}/${origin.iid}/notes`, { body: 'said' })
    const path = `${issues}/${origin.iid}/clone`
    const plain = await ana.post(path, { to_project_id: project.id })
    expect(plain.status).toBe(201)
    expect(plain.body).toMatchObject({
      title: 'origin',
      labels: ['bug'],
      weight: 3,
      state: 'opened',
    })
    expect(plain.body.assignees).toMatchObject([{ username: 'bea' }])
    const from = `cloned from ${project.fullPath}#${origin.iid}`
    expect(await notes(`${issues}/${plain.body.iid}`)).toEqual([from])
    const other = await addProject(world, ana, 'empty', { path: 'other' })
    const whole = await ana.post(path, { to_project_id: other.id, with_notes: true })
    const copy = `/projects/${other.id}/issues/${whole.body.iid}`
    expect(await notes(copy)).toEqual(['said', from])
    expect(await notes(`${issues}/${origin.iid}`)).toContain(
      `cloned to ana/other#${whole.body.iid}`,
    )
    // Who may not see the other project is not shown it.
    expect(await notes(`${issues}/${origin.iid}`, bea)).not.toContain(
      `cloned to ana/other#${whole.body.iid}`,
    )
    expect((await ana.get(`${issues}/${origin.iid}`)).body.state).toBe('opened')
    const refused = await bea.post(path, { to_project_id: other.id })
    expect(refused.status).toBe(404)
  })
})

describe('changes are noted', () => {
  test('when an item of a check-list is ticked', async () => {
    const { iid } = await issue('list', { description: '- [ ] one\n- [ ] two' })
    await ana.put(`${issues}/${iid}`, { description: '- [x] one\n- [ ] two' })
    await ana.put(`${issues}/${iid}`, { description: '- [ ] one\n- [ ] two' })
    await ana.put(`${issues}/${iid}`, { description: 'other' })
    expect(await notes(`${issues}/${iid}`)).toEqual([
      'marked the task **one** as completed',
      'marked the task **one** as incomplete',
      'changed the description',
    ])
  })

  test('when the type or the start changes, and when a link goes', async () => {
    const { iid } = await issue('typed')
    const other = await issue('other')
    await ana.put(`${issues}/${iid}`, { issue_type: 'incident', start_date: '2026-05-05' })
    await ana.put(`${issues}/${iid}`, { start_date: null })
    const link = await ana.post(`${issues}/${iid}/links`, {
      target_project_id: project.id,
      target_issue_iid: other.iid,
    })
    await ana.delete(`${issues}/${iid}/links/${link.body.id}`)
    const named = `${project.fullPath}#${other.iid}`
    expect(await notes(`${issues}/${iid}`)).toEqual([
      'changed type from issue to incident',
      'changed start date to 2026-05-05',
      'removed start date',
      `marked this issue as related to ${named}`,
      `removed the relation with ${named}`,
    ])
  })
})

describe('lists narrow by', () => {
  test('reactions of the caller, and what no issue has', async () => {
    const liked = await issue('liked')
    await ana.post(`${issues}/${liked.iid}/award_emoji`, { name: 'heart' })
    expect(await titles('my_reaction_emoji=heart')).toEqual(['liked'])
    expect(await titles('my_reaction_emoji=Any')).toEqual(['liked'])
    expect(await titles('my_reaction_emoji=None')).not.toContain('liked')
    expect(await titles('search=liked&epic_id=None&iteration_id=None')).toEqual(['liked'])
    for (const query of [
      'epic_id=Any',
      'epic_id=5',
      'iteration_id=3',
      'health_status=on_track',
      'crm_contact_id=1',
    ]) {
      expect(await titles(query)).toEqual([])
    }
  })

  test('milestones that are not meant', async () => {
    const { body } = await ana.post(`/projects/${project.id}/milestones`, {
      title: 'soon',
      due_date: '2026-06-01',
    })
    await issue('planned', { milestone_id: body.id })
    expect(await titles('not[milestone_id]=Upcoming&search=planned')).toEqual([])
    expect(await titles('not[milestone]=soon&search=liked')).toEqual(['liked'])
    expect(await titles('milestone_id=Upcoming')).toEqual(['planned'])
  })

  test('priority: first the milestone that ends soonest, then the label', async () => {
    const place = await addProject(world, ana, 'empty', { path: 'urgent' })
    const api = `/projects/${place.id}`
    await ana.post(`${api}/labels`, { name: 'high', color: 'red', priority: 1 })
    await ana.post(`${api}/labels`, { name: 'low', color: 'red', priority: 9 })
    const due = { title: 'x', due_date: '2026-06-01' }
    const { body: milestone } = await ana.post(`${api}/milestones`, due)
    await ana.post(`${api}/issues`, { title: 'plain' })
    await ana.post(`${api}/issues`, { title: 'low', labels: 'low' })
    await ana.post(`${api}/issues`, { title: 'high', labels: 'high' })
    await ana.post(`${api}/issues`, { title: 'due', milestone_id: milestone.id })
    const listed = await titles('order_by=priority&sort=asc', `${api}/issues`)
    expect(listed).toEqual(['due', 'high', 'low', 'plain'])
  })
})

test('administrators see with what program an issue was made', async () => {
  const { iid } = await issue('traced')
  const path = `${issues}/${iid}/user_agent_detail`
  const { status, body } = await world.root.get(path)
  expect([status, body]).toEqual([
    200,
    { user_agent: 'gitstead-test', ip_address: '127.0.0.1', akismet_submitted: false },
  ])
  expect((await ana.get(path)).status).toBe(403)
  await ana.delete(`${issues}/${iid}`)
})

test('an issue that goes on with the threads of a merge request resolves them', async () => {
  const bench = await openBench(world, ana)
  bench.commit('work', { 'a.txt': 'a' })
  const { body: request } = await bench.open('work')
  const threads = `${bench.api}/${request.iid}/discussions`
  const first = await ana.post(threads, { body: 'one' })
  const second = await ana.post(threads, { body: 'two' })
  const path = `/projects/${bench.project.id}/issues`
  const resolved = async (id: string) => (await ana.get(`${threads}/${id}`)).body.notes[0].resolved
  const body = { title: 'later', merge_request_to_resolve_discussions_of: request.iid }
  await ana.post(path, { ...body, discussion_to_resolve: first.body.id })
  expect([await resolved(first.body.id), await resolved(second.body.id)]).toEqual([true, false])
  await ana.post(path, body)
  expect(await resolved(second.body.id)).toBe(true)
  const said = await notes(`${bench.api}/${request.iid}`)
  expect(said.filter((text) => text === 'resolved all threads')).toHaveLength(1)
  await ana.put(`${bench.api}/${request.iid}`, { description: '- [ ] tidy' })
  await ana.put(`${bench.api}/${request.iid}`, { description: '- [x] tidy' })
  expect((await notes(`${bench.api}/${request.iid}`)).at(-1)).toBe(
    'marked the task **tidy** as completed',
  )
  expect(await notes(`${bench.api}/${request.iid}`)).toContain(
    'created #2 to continue this discussion',
  )
})

test('there are no events of iterations', async () => {
  const { iid } = await issue('timeless')
  expect((await ana.get(`${issues}/${iid}/resource_iteration_events`)).body).toEqual([])
  expect((await ana.get(`${issues}/${iid}/resource_iteration_events/1`)).status).toBe(404)
})
