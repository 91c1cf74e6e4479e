import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../../notifications/hooks/receiver.ts'
import { gitClient } from '../../support/git-client.ts'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(() => receiver.close())

/** A merge request that was approved and pushed to before anything was done for it. */
async function overtaken() {
  const bench = await openBench(world, ana)
  const at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, ben.id, 30)
  const hook = { url: receiver.url, push_events: false, merge_requests_events: true }
  expect((await ana.post(`${at}/hooks`, hook)).status).toBe(201)
  const head = bench.commit('topic', { 'topic.txt': 'topic\n' })
  const body = { source_branch: 'topic', target_branch: 'main', title: 'Take it' }
  const { iid } = (await ana.post(bench.api, body)).body
  expect((await ben.post(`${bench.api}/${iid}/approve`)).status).toBe(201)
  const more = { branch: 'topic', commit_message: 'Add more', content: 'more' }
  expect((await ana.post(`${at}/repository/files/more.txt`, more)).status).toBe(201)
  await bench.read(iid)
  return { one: `${bench.api}/${iid}`, head }
}

test('a push before the first look is a push like any other', async () => {
  const { one, head } = await overtaken()
  expect((await ana.get(`${one}/approvals`)).body.approved_by).toEqual([])
  const { body: versions } = await ana.get(`${one}/versions`)
  expect(versions).toHaveLength(2)
  expect(versions[1].head_commit_sha).toBe(head)
  const sent = receiver.received.map(({ body }) => body.object_attributes)
  expect(sent.map(({ action }) => action)).toEqual(['open', 'approved', 'update'])
  expect(sent[2].oldrev).toBe(head)
  const { body: notes } = await ana.get(`${one}/notes?sort=asc`)
  expect(notes.map((note: { body: string }) => note.body.split('\n')[0])).toEqual([
    'approved this merge request',
    'added 1 commit',
  ])
})

test('a forced push to a fork before the first look takes the approvals of what is gone', async () => {
  const bench = await openBench(world, ana)
  const fork = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  await world.ctx.db
    .updateTable('projects')
    .set({ forked_from_id: bench.project.id })
    .where('id', '=', fork.project.id)
    .execute()
  await gitClient(fork.project.path, ['fetch', '-q', bench.project.path, '+main:main'])
  fork.commit('topic', { 'topic.txt': 'topic\n' })
  const opened = await ana.post(fork.api, {
    source_branch: 'topic',
    target_branch: 'main',
    target_project_id: bench.project.id,
    title: 'Across',
  })
  expect(opened.status).toBe(201)
  const one = `${bench.api}/${opened.body.iid}`
  expect((await ben.post(`${one}/approve`)).status).toBe(201)
  const forced = await ana.post(`/projects/${fork.project.id}/repository/commits`, {
    branch: 'topic',
    start_branch: 'main',
    force: true,
    commit_message: 'Another',
    actions: [{ action: 'create', file_path: 'another.txt', content: 'another' }],
  })
  expect(forced.status).toBe(201)
  expect((await bench.read(opened.body.iid)).body.sha).toBe(forced.body.id)
  expect((await ana.get(`${one}/approvals`)).body.approved_by).toEqual([])
})
