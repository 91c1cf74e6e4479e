import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench
let issues: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  issues = `/projects/${bench.project.id}/issues`
  await addMember(world, bench.project.id, bea.id, 30)
})

interface SystemNote {
  readonly system: boolean
  readonly body: string
}

async function systemNotes(who: Caller, path: string): Promise<string[]> {
  const { body } = await who.get(`${path}/notes?sort=asc&per_page=100`)
  return body
    .filter((note: SystemNote) => note.system && note.body.startsWith('mentioned'))
    .map((note: SystemNote) => note.body)
}

async function issue(who: Caller, title: string, more = {}): Promise<number> {
  const made = await who.post(issues, { title, ...more })
  expect(made.status).toBe(201)
  return made.body.iid
}

describe('what a text mentions', () => {
  test('says so once, whatever text of the source it was in', async () => {
    const target = await issue(ana, 'target')
    const source = await issue(ana, 'source', { description: `like #${target}` })
    await ana.post(`${issues}/${source}/notes`, { body: `again #${target}, and #${source} itself` })
    await ana.put(`${issues}/${source}`, { description: `still #${target}` })
    expect(await systemNotes(ana, `${issues}/${target}`)).toEqual([`mentioned in issue #${source}`])
    expect(await systemNotes(ana, `${issues}/${source}`)).toEqual([])
  })

  test('is found in what an edit adds', async () => {
    const target = await issue(ana, 'later')
    const source = await issue(ana, 'first')
    const note = await ana.post(`${issues}/${source}/notes`, { body: 'nothing' })
    await ana.put(`${issues}/${source}/notes/${note.body.id}`, { body: `now #${target}` })
    expect(await systemNotes(ana, `${issues}/${target}`)).toEqual([`mentioned in issue #${source}`])
  })

  test('is noted on merge requests and on issues that they mention', async () => {
    const target = await issue(ana, 'work')
    bench.commit('feature', { 'a.txt': 'a' })
    const { body: request } = await bench.open('feature', { description: `For #${target}` })
    expect(await systemNotes(ana, `${issues}/${target}`)).toEqual([
      `mentioned in merge request !${request.iid}`,
    ])
    await ana.post(`${issues}/${target}/notes`, { body: `done in !${request.iid}` })
    expect(await systemNotes(ana, `${bench.api}/${request.iid}`)).toEqual([
      `mentioned in issue #${target}`,
    ])
  })

  test('has the path before it when it is mentioned in another project', async () => {
    const target = await issue(ana, 'near')
    const far = await createProject(ana, 'far')
    const path = `/projects/${far.id}/issues`
    const full = `${bench.project.fullPath}#${target}`
    const { body: source } = await ana.post(path, { title: 'x', description: full })
    expect(await systemNotes(ana, `${issues}/${target}`)).toEqual([
      `mentioned in issue ana/far#${source.iid}`,
    ])
    // Others of the project are not shown a place that they may not see.
    expect(await systemNotes(bea, `${issues}/${target}`)).toEqual([])
    const threads = await bea.get(`${issues}/${target}/discussions`)
    expect(JSON.stringify(threads.body)).not.toContain('ana/far')
  })

  test('stays silent about what the writer may not see', async () => {
    const secret = await world.user('secret')
    const hidden = await createProject(secret, 'hidden')
    const { body: target } = await secret.post(`/projects/${hidden.id}/issues`, { title: 'x' })
    await issue(ana, 'curious', { description: `secret/hidden#${target.iid}` })
    expect(await systemNotes(secret, `/projects/${hidden.id}/issues/${target.iid}`)).toEqual([])
  })

  test('hides mentions in confidential issues, and shows nothing of internal notes', async () => {
    const guest = await world.user('guest')
    await addMember(world, bench.project.id, guest.id, 10)
    const target = await issue(ana, 'open')
    const source = await issue(ana, 'quiet', { confidential: true, description: `#${target}` })
    expect(await systemNotes(ana, `${issues}/${target}`)).toEqual([`mentioned in issue #${source}`])
    expect(await systemNotes(guest, `${issues}/${target}`)).toEqual([])
    const other = await issue(ana, 'other')
    await ana.post(`${issues}/${source}/notes`, { body: `#${other}`, internal: true })
    expect(await systemNotes(ana, `${issues}/${other}`)).toEqual([])
  })
})

describe('commits', () => {
  async function push(who: Caller, message: string, branch: string, start = 'main') {
    const made = await who.post(`/projects/${bench.project.id}/repository/commits`, {
      branch,
      ...(branch === start ? {} : { start_branch: start }),
      commit_message: message,
      actions: [
        { action: 'create', file_path: `${message}.txt`.replaceAll(/\W/g, '-'), content: 'x' },
      ],
    })
    expect(made.status).toBe(201)
    await world.runTasks()
    return made.body.id as string
  }

  test('that are pushed to any branch are noted where their messages point', async () => {
    const target = await issue(ana, 'by commit')
    const sha = await push(bea, `See #${target}`, 'topic')
    expect(await systemNotes(ana, `${issues}/${target}`)).toEqual([`mentioned in commit ${sha}`])
    const closed = await issue(ana, 'to close')
    await push(bea, `Closes #${closed}`, 'main')
    expect(await systemNotes(ana, `${issues}/${closed}`)).toEqual([])
  })

  test('are no news on the merge request that brings them', async () => {
    bench.commit('self', { 'b.txt': 'b' })
    const { body: request } = await bench.open('self')
    await push(ana, `Part of !${request.iid}`, 'self', 'self')
    expect(await systemNotes(ana, `${bench.api}/${request.iid}`)).toEqual([])
  })

  test('that a text names say where', async () => {
    const sha = await push(ana, 'A named commit', 'named')
    const source = await issue(ana, 'names', {
      description: `since ${sha.slice(0, 10)} and 0000000`,
    })
    await world.runTasks()
    const path = `/projects/${bench.project.id}/repository/commits/${sha}`
    const { body } = await ana.get(`${path}/discussions`)
    expect(body.map((thread: { notes: SystemNote[] }) => thread.notes[0]?.body)).toEqual([
      `mentioned in issue #${source}`,
    ])
  })
})

describe('people who are mentioned', () => {
  async function todos(who: Caller) {
    const { body } = await who.get('/todos')
    return body.map((todo: { action_name: string; target: { title: string } }) => [
      todo.action_name,
      todo.target.title,
    ])
  }

  test('get a to-do and take part, if they may see the place', async () => {
    const stranger = await world.user('stranger')
    const iid = await issue(ana, 'calls', { description: 'Please look, @bea and @stranger' })
    expect(await todos(bea)).toContainEqual(['mentioned', 'calls'])
    expect(await todos(stranger)).toEqual([])
    const { body } = await ana.get(`${issues}/${iid}/participants`)
    expect(body.map((user: { username: string }) => user.username)).toEqual(['ana', 'bea'])
    await ana.post(`${issues}/${iid}/notes`, { body: '@bea please' })
    expect(await todos(bea)).toContainEqual(['directly_addressed', 'calls'])
  })

  test('get to-dos of a confidential issue or an internal note only when they may read it', async () => {
    const reader = await world.user('reader')
    await addMember(world, bench.project.id, reader.id, 10)
    const quiet = await issue(ana, 'hush', { confidential: true, description: '@reader' })
    expect(await todos(reader)).toEqual([])
    await ana.put(`${issues}/${quiet}`, { confidential: false })
    await ana.post(`${issues}/${quiet}/notes`, { body: '@reader @bea', internal: true })
    expect(await todos(reader)).toEqual([])
    expect(await todos(bea)).toContainEqual(['directly_addressed', 'hush'])
  })

  test('are also the members of a mentioned group', async () => {
    const group = await createGroup(ana, 'crew')
    const cat = await world.user('cat')
    await ana.post(`/groups/${group.id}/members`, { user_id: cat.id, access_level: 30 })
    const project = await createProject(ana, 'ship', { namespace_id: group.id })
    await ana.post(`/projects/${project.id}/issues`, { title: 'storm', description: 'All @crew!' })
    expect(await todos(cat)).toEqual([['mentioned', 'storm']])
  })
})
