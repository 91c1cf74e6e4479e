import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { addMember } from '../support/members.ts'
import { type Bench, openBench } from '../support/review.ts'
import { type Caller, openWorld, type Reply, type World } from '../support/world.ts'

let world: World
let ana: Caller
let ben: Caller
let bench: Bench
let at: string
let request: string

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  ben = await world.user('ben')
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, ben.id, 40)
  bench.commit('work', { 'a.txt': 'a' })
  request = `${bench.api}/${(await bench.open('work')).body.iid}`
})
afterAll(() => world.close())

/** Sends requests that have all read what they read before one of them writes; gives their statuses, in order of size. */
async function sent(...acts: (() => Promise<Reply>)[]): Promise<number[]> {
  return (await atOnce(world, acts)).map(({ status }) => status).sort((a, b) => a - b)
}

describe('changes at once', () => {
  test('of what somebody and the instance want are all kept', async () => {
    const { root } = world
    await sent(
      () => ana.put('/user/preferences', { view_diffs_file_by_file: true }),
      () => ana.put('/user/preferences', { show_whitespace_in_diffs: false }),
      () => ana.patch('/user/status', { emoji: 'coffee' }),
      () => ana.patch('/user/status', { message: 'away' }),
      () => root.put('/application/appearance', { title: 'Ours' }),
      () => root.put('/application/appearance', { description: 'All of it' }),
      () => root.put('/application/plan_limits', { plan_name: 'default', ci_needs_size_limit: 9 }),
      () => root.put('/application/plan_limits', { plan_name: 'default', ci_active_jobs: 8 }),
      () => root.post('/features/some', { value: true, user: 'ana' }),
      () => root.post('/features/some', { value: true, user: 'ben' }),
    )
    const preferences = { view_diffs_file_by_file: true, show_whitespace_in_diffs: false }
    expect((await ana.get('/user/preferences')).body).toMatchObject(preferences)
    const status = { emoji: 'coffee', message: 'away' }
    expect((await ana.get('/user/status')).body).toMatchObject(status)
    const look = { title: 'Ours', description: 'All of it' }
    expect((await root.get('/application/appearance')).body).toMatchObject(look)
    const limits = { ci_needs_size_limit: 9, ci_active_jobs: 8 }
    expect((await root.get('/application/plan_limits')).body).toMatchObject(limits)
    const [feature] = (await root.get('/features')).body
    expect(feature.gates).toContainEqual({ key: 'actors', value: ['user:ana', 'user:ben'] })
  })

  test('of approvals never make what is refused as a whole, nor rules twice', async () => {
    await ana.post(`${at}/approval_rules`, { name: 'All of us', approvals_required: 1 })
    const settings = `${at}/merge_request_approval_setting`
    await ana.put(settings, { retain_approvals_on_push: true })
    const opposite = await sent(
      () => ana.put(settings, { selective_code_owner_removals: true }),
      () => ana.put(settings, { retain_approvals_on_push: false }),
    )
    expect(opposite).toEqual([200, 400])
    const own = (name: string) => () =>
      ana.post(`${request}/approval_rules`, { name, approvals_required: 1 })
    expect(await sent(own('one'), own('two'))).toEqual([201, 201])
    const { body: rules } = await ana.get(`${request}/approval_rules`)
    const names = rules.map((rule: { name: string }) => rule.name).sort()
    expect(names).toEqual(['All of us', 'one', 'two'])
  })

  test('of a milestone keep its days in order', async () => {
    const days = { title: 'days', start_date: '2026-05-10', due_date: '2026-05-20' }
    const { body: milestone } = await ana.post(`${at}/milestones`, days)
    const one = `${at}/milestones/${milestone.id}`
    const statuses = await sent(
      () => ana.put(one, { start_date: '2026-05-18' }),
      () => ana.put(one, { due_date: '2026-05-12' }),
    )
    expect(statuses).toEqual([200, 400])
  })
})

describe('what several do at once', () => {
  test('is done, and told, once', async () => {
    const { body: issue } = await ana.post(`${at}/issues`, { title: 'here' })
    const { body: other } = await ana.post(`${at}/issues`, { title: 'there' })
    const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'goal' })
    const one = `${at}/issues/${issue.iid}`
    const { body: award } = await ana.post(`${one}/award_emoji`, { name: 'rocket' })
    const target = { target_project_id: bench.project.id, target_issue_iid: other.iid }
    await ana.post(`${one}/links`, target)
    const link = (await ana.get(`${one}/links`)).body[0].issue_link_id
    const { body: thread } = await ana.post(`${request}/discussions`, { body: 'Why?' })
    const twice = (act: () => Promise<Reply>) => [act, act]
    const replies = await atOnce(world, [
      ...twice(() => ben.post(`${one}/subscribe`)),
      ...twice(() => ben.post(`${one}/todo`)),
      ...twice(() => ana.delete(`${one}/award_emoji/${award.id}`)),
      ...twice(() => ana.delete(`${one}/links/${link}`)),
      ...twice(() => ana.put(`${at}/milestones/${milestone.id}`, { state_event: 'close' })),
      ...twice(() => ana.put(`${request}/discussions/${thread.id}`, { resolved: true })),
    ])
    const statuses = replies.map(({ status }) => status)
    const pairs = [0, 2, 4, 6, 8, 10].map((i) => statuses.slice(i, i + 2).sort((a, b) => a - b))
    expect(pairs).toEqual([
      [201, 304],
      [201, 304],
      [204, 404],
      [200, 404],
      [200, 200],
      [200, 200],
    ])
    const saying = async (list: string, said: string) =>
      (await ana.get(list)).body.filter(({ body }: { body: string }) => body.startsWith(said))
    expect(await saying(`${one}/notes`, 'removed the relation')).toHaveLength(1)
    expect(await saying(`${request}/notes`, 'resolved all threads')).toHaveLength(1)
    const { body: events } = await ana.get(`${at}/events?target_type=milestone&action=closed`)
    expect(events).toHaveLength(1)
  })
})
