import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let bench: Bench
let issues: string
let host: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  issues = `/projects/${bench.project.id}/issues`
  host = world.ctx.config.externalUrl
  await addMember(world, bench.project.id, dev.id, 30)
})

const open = async (at = issues, more: object = {}): Promise<number> =>
  (await ana.post(at, { title: 'to do', ...more })).body.iid
const state = async (iid: number, at = issues) => (await ana.get(`${at}/${iid}`)).body.state
let files = 0

async function commit(message: string, who = ana, branch = 'main'): Promise<string> {
  files += 1
  const path = `/projects/${bench.project.id}/repository/commits`
  const made = await who.post(path, {
    branch,
    ...(branch === 'main' ? {} : { start_branch: 'main' }),
    commit_message: message,
    actions: [{ action: 'create', file_path: `f${files}.txt`, content: 'x' }],
  })
  expect(made.status).toBe(201)
  await world.runTasks()
  return made.body.id
}

describe('a commit on the default branch', () => {
  test.each([
    'close',
    'closes',
    'closed',
    'Closing',
    'fix',
    'Fixes',
    'fixed',
    'FIXING',
    'resolve',
    'resolves',
    'resolved',
    'resolving',
    'implement',
    'Implements',
    'implemented',
    'implementing',
    'Closes:',
  ])('closes what it names behind %s', async (keyword) => {
    const iid = await open()
    await commit(`Work\n\n${keyword} #${iid}`)
    expect(await state(iid)).toBe('closed')
  })

  test('closes several in one list, each by its own kind of name', async () => {
    const [a, b, c, d] = [await open(), await open(), await open(), await open()]
    const full = `${bench.project.fullPath}#${b}`
    const url = `${host}/${bench.project.fullPath}/-/issues/${c}`
    await commit(`Closes #${a}, ${full} and ${url}. See #${d}`)
    expect([await state(a), await state(b), await state(c), await state(d)]).toEqual([
      'closed',
      'closed',
      'closed',
      'opened',
    ])
  })

  test('closes nothing by other words, numbers or code', async () => {
    const iid = await open()
    for (const text of [
      `See #${iid}`,
      `disclose #${iid}`,
      `Closes !${iid}`,
      `Closes \`#${iid}\``,
      `closes issue number #${iid}x`,
      `Closes https://elsewhere.example/${bench.project.fullPath}/-/issues/${iid}`,
    ]) {
      await commit(text)
      expect([text, await state(iid)]).toEqual([text, 'opened'])
    }
  })

  test('shows who closed it, by which commit, in note, event and feed', async () => {
    const iid = await open()
    const sha = await commit(`Closes #${iid}`, dev)
    const { body } = await ana.get(`${issues}/${iid}`)
    expect(body).toMatchObject({ state: 'closed', closed_by: { username: 'dev' } })
    expect(body.closed_at).not.toBeNull()
    const notes = await ana.get(`${issues}/${iid}/notes`)
    expect(notes.body[0]).toMatchObject({ system: true, body: `closed via commit ${sha}` })
    const events = await ana.get(`${issues}/${iid}/resource_state_events`)
    expect(events.body).toMatchObject([
      { state: 'closed', source_commit: sha, user: { username: 'dev' } },
    ])
    const feed = await ana.get(`/projects/${bench.project.id}/events?action=closed`)
    expect(feed.body[0]).toMatchObject({ target_iid: iid, author_username: 'dev' })
  })

  test('closes nothing twice, nor again what was reopened since', async () => {
    const iid = await open()
    await commit(`Closes #${iid}`)
    await commit(`Closes #${iid}`)
    const events = async () => (await ana.get(`${issues}/${iid}/resource_state_events`)).body.length
    expect(await events()).toBe(1)
    await ana.put(`${issues}/${iid}`, { state_event: 'reopen' })
    await commit('Nothing of it')
    expect([await state(iid), await events()]).toEqual(['opened', 2])
  })
})

test('a commit on another branch closes when it lands', async () => {
  const iid = await open()
  await commit(`Closes #${iid}`, dev, 'aside')
  expect(await state(iid)).toBe('opened')
  const { body } = await bench.open('aside')
  expect((await ana.put(`${bench.api}/${body.iid}/merge`)).status).toBe(200)
  await world.runTasks()
  expect(await state(iid)).toBe('closed')
})

describe('a merge request', () => {
  test('closes what its description names when it is merged, not before', async () => {
    const [a, b] = [await open(), await open()]
    bench.commit('topic', { 'topic.txt': 'a' })
    const { body } = await bench.open('topic', { description: `Closes #${a}\n\nRelates to #${b}` })
    const one = `${bench.api}/${body.iid}`
    const listed = async (path: string) =>
      (await ana.get(path)).body.map((item: { iid: number }) => item.iid)
    expect(await listed(`${one}/closes_issues`)).toEqual([a])
    expect(await listed(`${issues}/${a}/closed_by`)).toEqual([body.iid])
    expect(await listed(`${issues}/${b}/closed_by`)).toEqual([])
    expect(await listed(`${issues}/${b}/related_merge_requests`)).toEqual([body.iid])
    expect((await ana.get(`${issues}/${a}`)).body.merge_requests_count).toBe(1)
    expect(await state(a)).toBe('opened')
    await ana.put(`${one}/merge`)
    await world.runTasks()
    expect([await state(a), await state(b)]).toEqual(['closed', 'opened'])
    const notes = await ana.get(`${issues}/${a}/notes`)
    expect(notes.body[0].body).toBe(`closed via merge request !${body.iid}`)
  })

  test('is counted for those alone who may see it', async () => {
    const iid = await open()
    const guest = await world.user('guest')
    await addMember(world, bench.project.id, guest.id, 10)
    bench.commit('counted', { 'counted.txt': 'a' })
    await bench.open('counted', { description: `Closes #${iid}` })
    const counted = async (who: Caller) => {
      const { body: issue } = await who.get(`${issues}/${iid}`)
      const { body: closers } = await who.get(`${issues}/${iid}/closed_by`)
      expect(closers).toHaveLength(issue.merge_requests_count)
      return issue.merge_requests_count
    }
    expect([await counted(dev), await counted(world.root), await counted(guest)]).toEqual([1, 1, 0])
  })

  test('that is closed closes nothing, and names other issues when it says so', async () => {
    const [a, b] = [await open(), await open()]
    bench.commit('other', { 'other.txt': 'a' })
    const { body } = await bench.open('other', { description: `Closes #${a}` })
    const one = `${bench.api}/${body.iid}`
    await ana.put(one, { description: `Closes #${b}` })
    expect((await ana.get(`${one}/closes_issues`)).body).toMatchObject([{ iid: b }])
    expect((await ana.get(`${issues}/${a}/closed_by`)).body).toEqual([])
    await ana.put(one, { state_event: 'close' })
    expect([await state(a), await state(b)]).toEqual(['opened', 'opened'])
  })
})

test('in another project a commit closes what its author may close there', async () => {
  const other = await createProject(ana, 'other')
  const there = `/projects/${other.id}/issues`
  const iid = await open(there)
  await commit(`Closes ana/other#${iid}`, dev)
  expect(await state(iid, there)).toBe('opened')
  await addMember(world, other.id, dev.id, 10)
  await commit(`Closes ana/other#${iid}`, dev)
  expect(await state(iid, there)).toBe('opened')
  await addMember(world, other.id, dev.id, 30)
  const sha = await commit(`Closes ana/other#${iid}`, dev)
  expect(await state(iid, there)).toBe('closed')
  const notes = await ana.get(`${there}/${iid}/notes`)
  expect(notes.body[0].body).toBe(`closed via commit ${bench.project.fullPath}@${sha}`)
})
