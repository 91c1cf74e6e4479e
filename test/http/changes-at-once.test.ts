import { beforeAll, describe, expect, test } from 'vitest'
import type { Db } from '../../src/store/schema.ts'
import { atOnce } from '../support/at-once.ts'
import { createGroup } from '../support/create.ts'
import { ed25519 } from '../support/keys.ts'
import { addMember } from '../support/members.ts'
import { type Bench, openBench } from '../support/review.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let bench: Bench
let at: string
let request: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, ben.id, 40)
  bench.commit('work', { 'a.txt': 'a' })
  request = `${bench.api}/${(await bench.open('work')).body.iid}`
})

/** Sends requests that have all read what they read before one of them writes; gives their statuses, in order of size. */
async function sent(...acts: (() => Promise<Reply>)[]): Promise<number[]> {
  return (await atOnce(world, acts)).map(({ status }) => status).sort((a, b) => a - b)
}

/** Makes something, and gives where it is. */
async function made(path: string, body: object, key = 'id', list = path): Promise<string> {
  const reply = await ana.post(path, body)
  expect([200, 201], `${path}: ${JSON.stringify(reply.body)}`).toContain(reply.status)
  return `${list}/${reply.body[key]}`
}

/** Deletes each twice; gives those whose second deletion was not told 404. */
async function deletedTwice(paths: readonly string[]) {
  const acts = paths.flatMap((path) => [() => ana.delete(path), () => ana.delete(path)])
  const replies = await atOnce(world, acts)
  return paths.flatMap((path, index) => {
    const pair = replies.slice(2 * index, 2 * index + 2).map(({ status }) => status)
    const [first = 0, second] = pair.sort()
    return first < 300 && second === 404 ? [] : [`${path}: ${pair}`]
  })
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

  test('of which two delete the same are done, and put on the record, once', async () => {
    const { root } = world
    const made = async (by: Caller, path: string, body: object) => (await by.post(path, body)).body
    bench.commit('gone', { 'b.txt': 'b' })
    const scopes = ['read_repository']
    const key = { title: 'k', key: ed25519() }
    const application = { name: 'a', redirect_uri: 'https://a.example', scopes: 'api' }
    await ana.post(`${at}/protected_tags`, { name: 'v*' })
    await ana.post(`${at}/protected_branches`, { name: 'kept' })
    const id = async (by: Caller, path: string, body: object) => {
      const { id } = await made(by, path, body)
      return [by, `${path}/${id}`] as const
    }
    const doomed = [
      [ana, `${bench.api}/${(await bench.open('gone')).body.iid}`] as const,
      await id(root, '/topics', { name: 'doomed', title: 'Doomed' }),
      await id(ana, `${at}/deploy_tokens`, { name: 'doomed', scopes }),
      await id(root, '/applications', application),
      await id(ana, '/user/keys', key),
      await id(ana, `${at}/hooks`, { url: 'https://hooks.example' }),
      await id(ana, `${at}/badges`, {
        link_url: 'https://a.example',
        image_url: 'https://a.example',
      }),
      await id(root, '/broadcast_messages', { message: 'Soon' }),
      [ana, `${at}/protected_tags/v*`] as const,
      [ana, `${at}/protected_branches/kept`] as const,
    ]
    const acts = doomed.flatMap(([by, path]) => [() => by.delete(path), () => by.delete(path)])
    const replies = await atOnce(world, acts)
    for (const [index, [, path]] of doomed.entries()) {
      const pair = replies.slice(2 * index, 2 * index + 2).map(({ status }) => status)
      expect(pair.sort(), path).toEqual([204, 404])
    }
    const events = await world.ctx.db
      .selectFrom('audit_events')
      .select('action')
      .where((is) => is.or([is('action', 'like', '%_deleted'), is('action', 'like', '%_removed')]))
      .execute()
    const actions = events.map(({ action }) => action)
    expect(actions.length).toBeGreaterThan(5)
    expect(actions).toEqual([...new Set(actions)])
  })

  test('in a project, of which two delete the same, are done once', async () => {
    const virtual = '/virtual_registries/packages/maven'
    const { body: group } = await ana.post('/groups', { name: 'Kept', path: 'kept' })
    const registries = `/groups/${group.id}/-${virtual}/registries`
    const scheduled = { description: 's', ref: 'main', cron: '0 1 * * *' }
    const schedule = await made(`${at}/pipeline_schedules`, scheduled)
    const other = await made(`${at}/pipeline_schedules`, scheduled)
    const days = { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1', cron_timezone: 'UTC' }
    const board = await made(`${at}/boards`, { name: 'b' })
    const { body: label } = await ana.post(`${at}/labels`, { name: 'l', color: '#fff000' })
    const flag = { name: 'f', version: 'new_version_flag' }
    const users = { name: 'u', user_xids: '1' }
    const release = { tag_name: 'v9', ref: 'main' }
    const link = { name: 'n', url: 'https://a.example' }
    const rule = {
      package_name_pattern: 'x*',
      package_type: 'npm',
      minimum_access_level_for_push: 'owner',
    }
    await ana.post(`${at}/releases`, release)
    const doomed = [
      other,
      await made(`${schedule}/variables`, { key: 'A', value: 'b' }, 'key'),
      await made(`${at}/freeze_periods`, days),
      await made(`${at}/triggers`, { description: 't' }),
      await made(`${at}/variables`, { key: 'A', value: 'b' }, 'key'),
      await made(`${at}/feature_flags`, flag, 'name'),
      await made(`${at}/feature_flags_user_lists`, users, 'iid'),
      await made(`${board}/lists`, { label_id: label.id }),
      await made(`${at}/boards`, { name: 'c' }),
      await made(`${at}/labels`, { name: 'm', color: '#fff000' }),
      await made(`${at}/milestones`, { title: 'doomed' }),
      await made(`${at}/releases/v9/assets/links`, link),
      await made(`${at}/packages/protection/rules`, rule),
      await made(registries, { name: 'v' }, 'id', `${virtual}/registries`),
    ]
    expect(await deletedTwice(doomed)).toEqual([])
  })

  test('of what is watched, planned and published, of which two delete the same, are done once', async () => {
    const files = [{ file_path: 'a.txt', content: 'a' }]
    const snippet = { title: 's', visibility: 'private', files }
    const issue = await made(`${at}/issues`, { title: 'seen', issue_type: 'incident' }, 'iid')
    const deployment = {
      environment: 'old',
      sha: bench.commit('deployed', { 'd.txt': 'd' }),
      ref: 'main',
      tag: false,
    }
    const environment = await made(`${at}/environments`, { name: 'gone' })
    await ana.post(`${environment}/stop`)
    bench.commit('waits', { 'c.txt': 'c' })
    const waiting = `${bench.api}/${(await bench.open('waits')).body.iid}`
    const { body: first } = await ana.get(request)
    const key = { title: 'd', key: ed25519() }
    await ana.post(`${at}/push_rule`, { member_check: true })
    const old = await made(`${at}/deployments`, { ...deployment, status: 'success' })
    await made(`${at}/deployments`, { ...deployment, status: 'success' })
    const member = { user_id: (await world.user('gus')).id, access_level: 30 }
    const file = `${at}/packages/generic/p/1/a.txt`
    await ana.put(file, undefined, { raw: 'a' })
    const [{ id: kept }] = (await ana.get(`${at}/packages`)).body
    const [{ id: inside }] = (await ana.get(`${at}/packages/${kept}/package_files`)).body
    const doomed = [
      await made(`${at}/alert_management/http_integrations`, { name: 'i', active: true }),
      await made(`${at}/error_tracking/client_keys`, {}),
      await made(`${issue}/timeline_events`, { note: 'seen', occurred_at: '2026-01-01T00:00:00Z' }),
      await made(`${issue}/notes`, { body: 'gone' }),
      await made(`${waiting}/draft_notes`, { note: 'gone' }),
      await made(`${waiting}/blocks`, { blocking_merge_request_id: first.id }),
      await made(`${waiting}/approval_rules`, { name: 'r', approvals_required: 1 }),
      await made(`${at}/approval_rules`, { name: 'r', approvals_required: 1 }),
      environment,
      old,
      `${at}/push_rule`,
      await made(`${at}/deploy_keys`, key),
      await made(`${at}/members`, member),
      await made(`${at}/snippets`, snippet),
      await made('/snippets', snippet),
      await made(`${at}/releases`, { tag_name: 'v10', ref: 'main' }, 'tag_name'),
      `${at}/packages/${kept}/package_files/${inside}`,
    ]
    expect(await deletedTwice(doomed)).toEqual([])
  })

  test('a group that is locked meanwhile is shared with nobody outside', async () => {
    const outside = (await createGroup(ana, 'outside')).id
    const settings = JSON.stringify({ prevent_sharing_groups_outside_hierarchy: true })
    const shared = async (place: string, id: number, lock: object) => {
      const share = () => ana.post(`${place}/share`, { group_id: outside, group_access: 30 })
      const lockIt = (db: Db) =>
        db.updateTable('namespaces').set(lock).where('id', '=', id).execute()
      return (await atOnce(world, [share], lockIt))[0]?.status
    }
    const group = async (path: string) => (await ana.post('/groups', { name: path, path })).body.id
    const [inside, locked] = [await group('inside'), await group('locked')]
    expect(await shared(`/groups/${inside}`, inside, { settings })).toBe(403)
    const { body } = await ana.post('/projects', { name: 'p', namespace_id: locked })
    expect(await shared(`/projects/${body.id}`, locked, { share_with_group_lock: 1 })).toBe(400)
  })

  test('what somebody restores or approves meanwhile is not deleted', async () => {
    const { root } = world
    await root.put('/application/settings', { delayed_project_removal: true })
    const { body: project } = await ana.post('/projects', { name: 'saved' })
    const { body: group } = await ana.post('/groups', { name: 'Saved', path: 'saved' })
    const dan = await world.user('dan')
    const places = [`/projects/${project.id}`, `/groups/${group.id}`]
    for (const place of places) await ana.delete(place)
    await world.ctx.db
      .updateTable('users')
      .set({ state: 'blocked_pending_approval' })
      .where('id', '=', dan.id)
      .execute()
    const path = project.path_with_namespace
    const acts = [
      () => ana.delete(`${places[0]}?permanently_remove=true&full_path=${path}`),
      () => ana.delete(`${places[1]}?permanently_remove=true&full_path=saved`),
      () => root.post(`/users/${dan.id}/reject`),
    ]
    const restored = { marked_for_deletion_on: null }
    const replies = await atOnce(world, acts, async (db) => {
      await db.updateTable('projects').set(restored).where('id', '=', project.id).execute()
      await db.updateTable('namespaces').set(restored).where('id', '=', group.id).execute()
      await db.updateTable('users').set({ state: 'active' }).where('id', '=', dan.id).execute()
    })
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 409])
    for (const place of places) expect((await ana.get(place)).status).toBe(200)
    expect((await dan.get('/user')).status).toBe(200)
    for (const place of places) {
      await ana.delete(place)
      const restore = () => ana.post(`${place}/restore`)
      expect(await sent(restore, restore)).toEqual([201, 400])
    }
    await root.put('/application/settings', { delayed_project_removal: false })
  })
})
