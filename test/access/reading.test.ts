import { expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

async function made(path: string, body: object) {
  const reply = await ana.post(path, body)
  expect(reply.status).toBe(201)
  return reply.body
}

test('what an archived project holds is read by those who may, and changed by nobody', async () => {
  const { id } = await made('/projects', { path: 'kept', initialize_with_readme: true })
  const project = `/projects/${id}`
  const [reporter, developer] = [await world.user('reporter'), await world.user('developer')]
  await made(`${project}/members`, { user_id: reporter.id, access_level: 20 })
  await made(`${project}/members`, { user_id: developer.id, access_level: 30 })
  const integrations = `${project}/alert_management/http_integrations`
  const integration = await made(integrations, { name: 'Watch', active: true })
  await ana.put(`${project}/error_tracking/settings`, { active: true, integrated: true })
  const hook = await made(`${project}/hooks`, { url: 'https://hooks.example/x' })
  await made(`${project}/archive`, {})
  const forMaintainers = [
    integrations,
    `${integrations}/${integration.id}`,
    `${project}/incident_management_settings`,
    `${project}/error_tracking/settings`,
    `${project}/error_tracking/client_keys`,
    `${project}/hooks`,
    `${project}/hooks/${hook.id}`,
    `${project}/merge_request_approval_setting`,
    `${project}/registry/protection/tag/rules`,
  ]
  for (const path of forMaintainers) {
    expect([path, (await ana.get(path)).status]).toEqual([path, 200])
    expect([path, (await ana.head(path)).status]).toEqual([path, 200])
    expect([path, (await developer.get(path)).status]).toEqual([path, 403])
  }
  for (const path of [`${project}/resource_groups`, `${project}/statistics`]) {
    expect([path, (await developer.get(path)).status]).toEqual([path, 200])
    expect([path, (await reporter.get(path)).status]).toEqual([path, 403])
  }
  for (const reply of [
    await ana.put(`${integrations}/${integration.id}`, { name: 'x' }),
    await ana.delete(`${integrations}/${integration.id}`),
    await ana.post(`${project}/error_tracking/client_keys`),
    await ana.put(`${project}/hooks/${hook.id}`, { url: 'https://hooks.example/y' }),
  ]) {
    expect(reply.status).toBe(403)
  }
})

test('a member of a project below a private group lists there what they see, and no more', async () => {
  const group = await made('/groups', { name: 'Top', path: 'top', visibility: 'private' })
  const at = { namespace_id: group.id, initialize_with_readme: true }
  const mine = await made('/projects', { ...at, path: 'mine' })
  const other = await made('/projects', { ...at, path: 'other' })
  const [member, stranger] = [await world.user('member'), await world.user('stranger')]
  await made(`/projects/${mine.id}/members`, { user_id: member.id, access_level: 30 })
  const above = `/groups/${group.id}`
  await made(`${above}/labels`, { name: 'bug', color: '#ff0000' })
  const milestone = await made(`${above}/milestones`, { title: 'm1' })
  for (const { id, path } of [mine, other]) {
    const more = { milestone_id: milestone.id, labels: 'bug' }
    await made(`/projects/${id}/issues`, { title: path, ...more })
    await made(`/projects/${id}/repository/branches`, { branch: 'topic', ref: 'main' })
    const branches = { source_branch: 'topic', target_branch: 'main', title: path }
    await made(`/projects/${id}/merge_requests`, { ...branches, ...more })
    const file = { raw: 'x', headers: { 'Content-Type': 'application/octet-stream' } }
    const upload = `/projects/${id}/packages/generic/${path}/1.0/file`
    expect((await ana.call('PUT', upload, undefined, file)).status).toBe(201)
  }
  const shown = async (path: string) => {
    const { status, body } = await member.get(`${above}/${path}`)
    expect([path, status]).toEqual([path, 200])
    return body.map((one: { title?: string; name?: string }) => one.title ?? one.name)
  }
  const milestonePath = `milestones/${milestone.id}`
  for (const path of ['issues', 'merge_requests', `${milestonePath}/issues`, 'packages'])
    expect([path, await shown(path)]).toEqual([path, ['mine']])
  expect(await shown(`${milestonePath}/merge_requests`)).toEqual(['mine'])
  expect([await shown('labels'), await shown('milestones')]).toEqual([['bug'], ['m1']])
  expect((await member.get(`${above}/labels/bug?with_counts=true`)).status).toBe(200)
  const counted = await member.get(`${above}/labels?with_counts=true`)
  const counts = { open_issues_count: 1, open_merge_requests_count: 1 }
  expect(counted.body).toMatchObject([counts])
  const { body: statistics } = await member.get(`${above}/issues_statistics`)
  expect(statistics.statistics.counts.all).toBe(1)
  expect(await shown('registry/repositories')).toEqual([])
  const label = { name: 'x', color: '#ff0000' }
  expect((await member.post(`${above}/labels`, label)).status).toBe(403)
  expect((await member.get(`${above}/hooks`)).status).toBe(403)
  for (const path of ['issues', 'labels', 'packages'])
    expect((await stranger.get(`${above}/${path}`)).status).toBe(404)
})
