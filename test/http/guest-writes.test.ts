import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import { addMember } from '../support/members.ts'
import { requiredOf } from '../support/plain-input.ts'
import { addProject } from '../support/project.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

/**
 * The authorisation table tells who gets past the door. Some endpoints decide inside, by data: here they are really
 * called. What a Guest of a private project can do with the least valid request is named, everything else must refuse.
 */
const GUESTS_MAY = [
  'POST /projects/:id/issues',
  'POST /projects/:id/issues/:issue_iid/award_emoji',
  // Their own, made a moment before.
  'DELETE /projects/:id/issues/:issue_iid/award_emoji/:award_id',
  'DELETE /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji/:award_id',
  'POST /projects/:id/issues/:issue_iid/discussions',
  'POST /projects/:id/issues/:issue_iid/notes',
  'POST /projects/:id/issues/:issue_iid/notes/:note_id/award_emoji',
  'POST /projects/:id/issues/:issue_iid/subscribe',
  'POST /projects/:id/issues/:issue_iid/todo',
  'POST /projects/:id/issues/:issue_iid/unsubscribe',
  'POST /projects/:id/labels/:label_id/subscribe',
  'POST /projects/:id/labels/:label_id/unsubscribe',
  'POST /projects/:id/snippets/:snippet_id/award_emoji',
  'DELETE /projects/:id/snippets/:snippet_id/award_emoji/:award_id',
  'POST /projects/:id/snippets/:snippet_id/discussions',
  'POST /projects/:id/snippets/:snippet_id/notes',
  'POST /projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji',
  'POST /projects/:id/star',
  'POST /projects/:id/unstar',
  'POST /projects/:id/uploads',
  'PUT /projects/:id/notification_settings',
]

let world: World
let ana: Caller
let guest: Caller
let projectId: number

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  guest = await world.user('guest')
  const project = await addProject(world, ana, 'basic')
  projectId = project.id
  await addMember(world, projectId, guest.id, 10)
  await ana.post(`/projects/${projectId}/issues`, { title: 'one' })
  await ana.post(`/projects/${projectId}/issues/1/notes`, { body: 'note' })
  await ana.post(`/projects/${projectId}/labels`, { name: 'one', color: 'red' })
  await ana.post(`/projects/${projectId}/milestones`, { title: 'one' })
  const snippet = { title: 'one', visibility: 'private', file_name: 'one', content: 'one' }
  await ana.post(`/projects/${projectId}/snippets`, snippet)
  await ana.post(`/projects/${projectId}/wikis`, { title: '1', content: 'one' })
})
afterAll(() => world.close())

test('a Guest of a private project changes nothing but what guests may', async () => {
  const done: string[] = []
  const writes = apiEndpoints.filter(
    (one) => one.access.kind === 'project' && one.method !== 'GET' && one.method !== 'HEAD',
  )
  for (const endpoint of writes) {
    const path = endpoint.path.replaceAll(/[:*](\w+)/g, (_, name: string) =>
      name === (endpoint.access.param ?? 'id') ? String(projectId) : '1',
    )
    const body = {
      ...requiredOf({ ...endpoint.query, ...endpoint.body }),
      branch: 'main',
      ref: 'main',
    }
    const reply = await guest.call(endpoint.method, path, body)
    if (reply.status < 400 && reply.status !== 304) done.push(`${endpoint.method} ${endpoint.path}`)
  }
  expect(done.filter((one) => !GUESTS_MAY.includes(one))).toEqual([])
}, 120_000)
