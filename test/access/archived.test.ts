import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../support/project.ts'
import { useCaller, useWorld } from '../support/world.ts'

/**
 * docs/contract/D §2.4: what an archived project holds is read, and writes of any kind are refused but for those that
 * end the archive, delete the project, or are nobody's but the caller's.
 */
const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const eve = useCaller(world, 'eve')
let project: TestProject
let at: string
const made: Record<string, string | number> = {}

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'kept', visibility: 'public' })
  at = `/projects/${project.id}`
  const make = async (name: string, path: string, body: object, field = 'id') => {
    const reply = await ana.post(at + path, body)
    expect([path, reply.status]).toEqual([path, 201])
    made[name] = reply.body[field]
  }
  await make('member', '/members', { user_id: ben.id, access_level: 40 })
  await make('issue', '/issues', { title: 'One' }, 'iid')
  await make('issueAward', '/issues/1/award_emoji', { name: 'thumbsup' })
  await make('issueThread', '/issues/1/discussions', { body: 'A thread' })
  await make('commit', '/repository/commits', {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'x',
    actions: [{ action: 'create', file_path: 'topic.txt', content: 'x' }],
  })
  const request = { source_branch: 'topic', target_branch: 'main', title: 'T' }
  await make('request', '/merge_requests', request, 'iid')
  await make('thread', '/merge_requests/1/discussions', { body: 'To be resolved' })
  const note = await ana.post(`${at}/merge_requests/1/notes`, { body: 'A note' })
  made.note = note.body.id
  await make('noteAward', `/merge_requests/1/notes/${made.note}/award_emoji`, { name: 'heart' })
  const file = new FormData()
  file.set('file', new Blob(['text']), 'a.txt')
  made.upload = (await ana.post(`${at}/uploads`, undefined, { raw: file })).body.id
  made.approval = (await ben.post(`${at}/merge_requests/1/approve`)).status
  // What follows in the background must not be taken for what a refused request did.
  await world.runTasks()
  expect((await ana.post(`${at}/archive`)).status).toBe(201)
})

const changes: readonly (readonly [
  string,
  string,
  () => string,
  (object | undefined)?,
  number?,
])[] = [
  ['PUT', 'resolves a thread', () => `/merge_requests/1/discussions/${made.thread}?resolved=true`],
  ['PUT', 'changes a note', () => `/merge_requests/1/notes/${made.note}`, { body: 'y' }],
  ['DELETE', 'deletes a note', () => `/merge_requests/1/notes/${made.note}`],
  [
    'POST',
    'answers in a thread',
    () => `/merge_requests/1/discussions/${made.thread}/notes`,
    { body: 'y' },
  ],
  ['POST', 'gives a reaction', () => '/issues/1/award_emoji', { name: 'star' }],
  ['DELETE', 'takes a reaction back', () => `/issues/1/award_emoji/${made.issueAward}`],
  [
    'DELETE',
    'takes one of a comment back',
    () => `/merge_requests/1/notes/${made.note}/award_emoji/${made.noteAward}`,
  ],
  ['POST', 'approves', () => '/merge_requests/1/approve', undefined, 401],
  ['PUT', 'merges', () => '/merge_requests/1/merge', undefined, 401],
  ['PUT', 'rebases', () => '/merge_requests/1/rebase'],
  [
    'POST',
    'starts a pipeline of a merge request',
    () => '/merge_requests/1/pipelines',
    undefined,
    405,
  ],
  ['POST', 'starts a pipeline', () => '/pipeline?ref=main'],
  [
    'POST',
    'copies an issue into the project',
    () => `/issues/1/clone?to_project_id=${project.id}`,
    undefined,
    400,
  ],
  ['POST', 'moves an issue', () => `/issues/1/move?to_project_id=${project.id}`],
  ['PUT', 'closes an issue', () => '/issues/1', { state_event: 'close' }],
  ['POST', 'opens an issue', () => '/issues', { title: 'x' }],
  ['POST', 'adds time', () => '/issues/1/add_spent_time?duration=1h'],
  ['POST', 'makes a label', () => '/labels', { name: 'x', color: '#ff0000' }],
  ['POST', 'makes a branch', () => '/repository/branches?branch=x&ref=main'],
  ['DELETE', 'deletes a branch', () => '/repository/branches/topic'],
  ['POST', 'makes a tag', () => '/repository/tags?tag_name=x&ref=main'],
  ['POST', 'protects a branch', () => '/protected_branches', { name: 'x' }],
  ['POST', 'makes a release', () => '/releases', { tag_name: 'v1', ref: 'main' }],
  ['POST', 'writes a wiki page', () => '/wikis', { title: 'x', content: 'x' }],
  [
    'POST',
    'makes a snippet',
    () => '/snippets',
    { title: 'x', visibility: 'private', files: [{ file_path: 'a', content: 'b' }] },
  ],
  ['POST', 'sets a variable', () => '/variables', { key: 'A', value: 'b' }],
  ['POST', 'adds a hook', () => '/hooks', { url: 'https://hooks.example/x' }],
  ['PUT', 'changes a setting', () => '', { description: 'x' }],
  ['DELETE', 'deletes an upload', () => `/uploads/${made.upload}`],
]

const cases = changes.map(([method, does, path, body, status = 403]) => ({
  method,
  does,
  path,
  body,
  status,
}))

describe('in an archived project nobody', () => {
  test.each(cases)('$method: $does', async ({ method, path, body, status }) => {
    const before = await everything()
    for (const who of [ana, ben]) {
      const reply = await who.call(method, at + path(), body)
      expect([path(), who.username, reply.status]).toEqual([path(), who.username, status])
    }
    expect(await everything()).toEqual(before)
  })

  test('asks to become a member', async () => {
    expect((await eve.post(`${at}/access_requests`)).status).toBe(403)
  })
})

/** What the changes would show in. */
async function everything() {
  const paths = [
    '/issues',
    '/merge_requests/1/approvals',
    '/merge_requests/1/discussions',
    '/labels',
    '/uploads',
    '/issues/1/award_emoji',
  ]
  const bodies = await Promise.all(paths.map(async (path) => (await ana.get(at + path)).body))
  return JSON.stringify(bodies)
}

test('it is read, starred and unstarred, and goes on as it was when it is opened again', async () => {
  for (const path of ['', '/issues/1', '/merge_requests/1', '/repository/tree', '/members/all'])
    expect([path, (await ben.get(at + path)).status]).toEqual([path, 200])
  expect((await eve.post(`${at}/star`)).status).toBe(201)
  expect((await eve.post(`${at}/unstar`)).status).toBe(201)
  expect((await ben.post(`${at}/unarchive`)).status).toBe(403)
  expect((await ana.post(`${at}/unarchive`)).status).toBe(201)
  const resolved = await ben.put(`${at}/merge_requests/1/discussions/${made.thread}?resolved=true`)
  expect(resolved.status).toBe(200)
  expect((await ana.delete(`${at}/issues/1/award_emoji/${made.issueAward}`)).status).toBe(204)
  expect((await eve.post(`${at}/access_requests`)).status).toBe(201)
})
