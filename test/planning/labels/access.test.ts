import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')
const eve = useCaller(world, 'eve')
let count = 0

/** A public project with a label and a milestone, and these levels. */
async function makeProject(levels: Record<string, string>, more: object = {}) {
  count += 1
  const name = `demo${count}`
  const { id } = await createProject(ana, name, { visibility: 'public', ...levels, ...more })
  const at = `/projects/${id}`
  await ana.post(`${at}/labels`, { name: 'secret', color: '#ff0000' })
  const milestone = await ana.post(`${at}/milestones`, { title: `Secret ${count}` })
  await addMember(world, id, guest.id, 10)
  return {
    at,
    reads: [
      `${at}/labels`,
      `${at}/labels/secret`,
      `${at}/milestones`,
      `${at}/milestones/${milestone.body.id}`,
    ],
  }
}

const both = (level: string) => ({ issues_access_level: level, merge_requests_access_level: level })
const statuses = (who: Caller, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await who.get(path)).status))

describe('labels and milestones', () => {
  test('are for members where issues and merge requests are', async () => {
    const { at, reads } = await makeProject(both('private'))
    expect(await statuses(guest, reads)).toEqual([200, 200, 200, 200])
    expect(await statuses(eve, reads)).toEqual([403, 403, 403, 403])
    expect(await statuses(world.nobody, reads)).toEqual([401, 401, 401, 401])
    expect((await eve.post(`${at}/labels/secret/subscribe`)).status).toBe(403)
  })

  test('are for everybody while one of the two is', async () => {
    const { reads } = await makeProject({ issues_access_level: 'private' })
    expect(await statuses(eve, reads)).toEqual([200, 200, 200, 200])
  })

  test('are for nobody where both are switched off', async () => {
    const { at, reads } = await makeProject({})
    expect((await ana.put(at, both('disabled'))).status).toBe(200)
    expect(await statuses(ana, reads)).toEqual([403, 403, 403, 403])
    const made = await ana.post(`${at}/labels`, { name: 'late', color: '#00ff00' })
    expect(made.status).toBe(403)
  })

  test('stay out of releases that strangers read', async () => {
    const { at } = await makeProject(both('private'), { initialize_with_readme: true })
    const title = `Secret ${count}`
    const release = { tag_name: 'v1', ref: 'main', milestones: [title] }
    expect((await ana.post(`${at}/releases`, release)).body.milestones).toMatchObject([{ title }])
    expect((await guest.get(`${at}/releases/v1`)).body.milestones).toMatchObject([{ title }])
    expect((await eve.get(`${at}/releases/v1`)).body.milestones).toEqual([])
  })

  test('of hidden projects and groups stay out of the lists of the group above', async () => {
    const group = await createGroup(ana, 'open', { visibility: 'public' })
    const inner = await createGroup(ana, 'inner', { parent_id: group.id })
    await ana.put(`/groups/${inner.id}`, { visibility: 'private' })
    await ana.post(`/groups/${inner.id}/labels`, { name: 'inner', color: '#ff0000' })
    await ana.post(`/groups/${inner.id}/milestones`, { title: 'Inner' })
    await makeProject({}, { namespace_id: group.id, visibility: 'private' })
    await makeProject(both('private'), { namespace_id: group.id })
    await makeProject({}, { namespace_id: group.id })
    const milestones = `/groups/${group.id}/milestones?include_descendants=true`
    const labels = `/groups/${group.id}/labels?include_descendant_groups=true`
    expect((await ana.get(milestones)).body).toHaveLength(4)
    expect((await ana.get(labels)).body).toHaveLength(1)
    const seen = (await eve.get(milestones)).body.map((one: { title: string }) => one.title)
    expect(seen).toEqual([`Secret ${count}`])
    expect((await world.nobody.get(labels)).body).toEqual([])
  })
})
