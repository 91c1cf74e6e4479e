import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')
let bench: Bench
let receiver: Receiver
let at: string

beforeAll(async () => {
  receiver = await openReceiver()
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
})
afterAll(() => receiver.close())
afterEach(async () => {
  receiver.received.length = 0
  for (const { id } of (await ana.get(`${at}/hooks`)).body) await ana.delete(`${at}/hooks/${id}`)
})

async function hook(...events: string[]): Promise<string> {
  const flags = Object.fromEntries(events.map((name) => [name, true]))
  const made = await ana.post(`${at}/hooks`, { url: receiver.url, push_events: false, ...flags })
  expect(made.status).toBe(201)
  return `${at}/hooks/${made.body.id}`
}

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

async function newDeliveries() {
  await world.runTasks()
  return receiver.received.map(({ body }) => body)
}

describe('hooks of comments', () => {
  test('show the line, and the merge request with its commit, source and labels', async () => {
    const head = bench.commit('lines', { 'a.txt': 'one\n' })
    const { body: opened } = await bench.open('lines', { labels: 'bug', assignee_id: ana.id })
    await hook('note_events', 'emoji_events')
    const { diff_refs: refs } = (await bench.read(opened.iid)).body
    const position = { ...refs, position_type: 'text', new_path: 'a.txt', new_line: 1 }
    const api = `${bench.api}/${opened.iid}`
    const made = await ana.post(`${api}/discussions`, { body: 'Here', position })
    expect(made.status).toBe(201)
    const [note] = made.body.notes
    await ana.post(`${api}/notes/${note.id}/award_emoji`, { name: 'rocket' })
    const bodies = await newDeliveries()
    const said = bodies.find((body) => body.object_kind === 'note')
    const liked = bodies.find((body) => body.object_kind === 'emoji')
    const merge_request = {
      iid: opened.iid,
      last_commit: { id: head, message: 'Change lines\n', author: { name: expect.any(String) } },
      source: { path_with_namespace: bench.project.fullPath },
      target: { path_with_namespace: bench.project.fullPath },
      labels: [{ title: 'bug' }],
      assignee_ids: [ana.id],
      source_branch: 'lines',
      url: opened.web_url,
    }
    expect(said).toMatchObject({
      object_kind: 'note',
      object_attributes: {
        action: 'create',
        type: 'DiffNote',
        line_code: `${sha1('a.txt')}_1_1`,
        position: { new_path: 'a.txt', new_line: 1 },
        original_position: { new_path: 'a.txt', new_line: 1 },
        url: `${opened.web_url}#note_${note.id}`,
      },
      merge_request,
    })
    expect(liked).toMatchObject({
      object_kind: 'emoji',
      object_attributes: { name: 'rocket', awarded_on_url: `${opened.web_url}#note_${note.id}` },
      note: { id: note.id, line_code: said.object_attributes.line_code },
      merge_request,
    })
  })

  test('show the commit with its message and author, and the snippet with its file', async () => {
    await hook('note_events')
    const sha = bench.project.git('rev-parse', 'main')
    await ana.post(`${at}/repository/commits/${sha}/comments`, { note: 'Nice' })
    const files = [{ file_path: 's.rb', content: 'puts 1' }]
    const snippet = { title: 'A snippet', visibility: 'private', files }
    const { body: made } = await ana.post(`${at}/snippets`, snippet)
    await ana.post(`${at}/snippets/${made.id}/notes`, { body: 'Good' })
    const bodies = await newDeliveries()
    expect(bodies.find((body) => body.commit)).toMatchObject({
      object_attributes: { noteable_type: 'Commit', commit_id: sha },
      commit: { id: sha, message: 'Begin\n', author: { email: expect.stringContaining('@') } },
    })
    expect(bodies.find((body) => body.snippet)).toMatchObject({
      object_attributes: { noteable_type: 'Snippet' },
      snippet: { id: made.id, title: 'A snippet', file_name: 's.rb', visibility_level: 0 },
    })
  })
})

test('hooks of issues show the time that was spent', async () => {
  const { body: issue } = await ana.post(`${at}/issues`, { title: 'Slow' })
  await ana.post(`${at}/issues/${issue.iid}/add_spent_time`, { duration: '2h' })
  await hook('issues_events')
  await ana.put(`${at}/issues/${issue.iid}`, { title: 'Slower' })
  expect((await newDeliveries())[0].object_attributes).toMatchObject({
    action: 'update',
    total_time_spent: 7200,
    human_total_time_spent: '2h',
  })
})

test('hooks of releases count and list the archives of the code', async () => {
  await hook('releases_events')
  await ana.post(`${at}/releases`, { tag_name: 'v1', ref: 'main' })
  const { body: shown } = await ana.get(`${at}/releases/v1`)
  expect(shown.assets.count).toBe(4)
  expect((await newDeliveries())[0].assets).toEqual({
    count: 4,
    links: [],
    sources: shown.assets.sources,
  })
})

test('hooks of releases are called for one that is deleted with its tag', async () => {
  await ana.post(`${at}/releases`, { tag_name: 'brief', ref: 'main' })
  await hook('releases_events')
  expect((await ana.delete(`${at}/repository/tags/brief`)).status).toBe(204)
  expect(await newDeliveries()).toMatchObject([
    { object_kind: 'release', action: 'delete', tag: 'brief', commit: { id: expect.any(String) } },
  ])
})

test('hooks of wiki pages show the message of the commit', async () => {
  await hook('wiki_page_events')
  await ana.post(`${at}/wikis`, { title: 'Home page', content: 'Hi' })
  const [sent] = await newDeliveries()
  expect(sent.object_attributes.message).toMatch(/\S/)
})

test('hooks of jobs and pipelines show the tier of an environment that does not name one', async () => {
  const config = { deploy: { script: ['x'], environment: 'staging/eu' } }
  bench.commit('main', { '.gitlab-ci.yml': JSON.stringify(config) })
  const { body: pipeline } = await ana.post(`${at}/pipeline`, { ref: 'main' })
  await world.runTasks()
  const path = await hook('pipeline_events', 'job_events')
  expect((await ana.post(`${path}/test/pipeline_events`)).status).toBe(201)
  expect((await ana.post(`${path}/test/job_events`)).status).toBe(201)
  const environment = { name: 'staging/eu', action: 'start', deployment_tier: 'staging' }
  expect((await newDeliveries()).slice(0, 2)).toMatchObject([
    { object_attributes: { id: pipeline.id }, builds: [{ name: 'deploy', environment }] },
    { build_name: 'deploy', environment, commit: { id: pipeline.id, duration: null } },
  ])
})

test('hooks are tried out with reactions, tokens and comments that not everybody may read', async () => {
  const path = await hook()
  const kinds = ['emoji', 'resource_access_token', 'confidential_note']
  const { body: issue } = await ana.post(`${at}/issues`, { title: 'Loved' })
  await ana.post(`${at}/issues/${issue.iid}/award_emoji`, { name: 'heart' })
  await ana.post(`${at}/issues/${issue.iid}/notes`, { body: 'Hush', internal: true })
  const { body: open } = await ana.post(`${at}/issues/${issue.iid}/notes`, { body: 'Loud' })
  const token = { name: 'bot', scopes: ['api'], expires_at: '2026-06-01' }
  await ana.post(`${at}/access_tokens`, token)
  world.setNow('2026-05-04T10:30:00.000Z')
  for (const kind of kinds) {
    expect((await ana.post(`${path}/test/${kind}_events`)).status).toBe(201)
  }
  expect((await ana.post(`${path}/test/note_events`)).status).toBe(201)
  expect(await newDeliveries()).toMatchObject([
    { object_kind: 'emoji', object_attributes: { name: 'heart' }, issue: { iid: issue.iid } },
    { object_kind: 'access_token', object_attributes: { name: 'bot', expires_at: '2026-06-01' } },
    { event_type: 'confidential_note', object_attributes: { note: 'Hush' } },
    { event_type: 'note', object_attributes: { id: open.id, note: 'Loud' } },
  ])
})

test('hooks of groups are tried out with what a project of the group holds', async () => {
  const group = await createGroup(ana, 'try')
  const hook = { url: receiver.url, push_events: false }
  const made = await ana.post(`/groups/${group.id}/hooks`, hook)
  const path = `/groups/${group.id}/hooks/${made.body.id}/test`
  expect((await ana.post(`${path}/push_events`)).status).toBe(422)
  const project = await createProject(ana, 'in', {
    namespace_id: group.id,
    initialize_with_readme: true,
  })
  const tried = await ana.post(`${path}/push_events`)
  expect([tried.status, tried.body]).toEqual([201, { message: '201 Created' }])
  expect(await newDeliveries()).toMatchObject([{ object_kind: 'push', project_id: project.id }])
  expect((await ana.post(`${path}/issues_events`)).status).toBe(422)
  expect((await ana.post(`${path}/nothing`)).status).toBe(400)
  expect((await (await world.user('eve')).post(`${path}/push_events`)).status).toBe(404)
})

test('hooks of groups are tried out with a project, a subgroup and a member of the group', async () => {
  const group = await createGroup(ana, 'examples')
  const { id } = (await ana.post(`/groups/${group.id}/hooks`, { url: receiver.url })).body
  const attempt = (kind: string) => ana.post(`/groups/${group.id}/hooks/${id}/test/${kind}_events`)
  for (const kind of ['project', 'subgroup']) expect((await attempt(kind)).status).toBe(422)
  await createProject(ana, 'in', { namespace_id: group.id })
  await createGroup(ana, 'below', { parent_id: group.id })
  await world.runTasks()
  await newDeliveries()
  for (const kind of ['project', 'subgroup', 'member']) {
    expect((await attempt(kind)).status).toBe(201)
  }
  expect(await newDeliveries()).toMatchObject([
    { event_name: 'project_create', path_with_namespace: 'examples/in' },
    { event_name: 'subgroup_create', full_path: 'examples/below', parent_path: 'examples' },
    { event_name: 'user_add_to_group', user_username: 'ana', group_access: 'Owner' },
  ])
})

test('hooks of groups show until when somebody is a member', async () => {
  const group = await createGroup(ana, 'team')
  const hooks = `/groups/${group.id}/hooks`
  await ana.post(hooks, { url: receiver.url, push_events: false, member_events: true })
  const ben = await world.user('ben')
  const member = { user_id: ben.id, access_level: 30, expires_at: '2026-08-01' }
  expect((await ana.post(`/groups/${group.id}/members`, member)).status).toBe(201)
  expect(await newDeliveries()).toMatchObject([
    { event_name: 'user_add_to_group', group_access: 'Developer', expires_at: '2026-08-01' },
  ])
})
