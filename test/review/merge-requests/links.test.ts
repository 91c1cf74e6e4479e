import { expect, test } from 'vitest'
import { atOnce } from '../../support/at-once.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')

async function stage() {
  const bench = await openBench(world, ana)
  await addMember(world, bench.project.id, guest.id, 20)
  bench.commit('one', { one: '1' })
  bench.commit('two', { two: '2' })
  const [first, second] = [(await bench.open('one')).body, (await bench.open('two')).body]
  return { bench, first, second }
}

test.each(['blocks', 'dependencies'])(
  'a merge request waits for the one that blocks it (%s)',
  async (kind) => {
    const { bench, first, second } = await stage()
    const at = `${bench.api}/2/${kind}`
    const input = { blocking_merge_request_id: first.id }
    expect((await guest.post(at, input)).status).toBe(403)
    const made = await ana.post(at, input)
    expect([made.status, made.body.blocking_merge_request.iid]).toEqual([201, 1])
    expect((await ana.post(at, input)).status).toBe(409)
    const circle = { blocking_merge_request_id: second.id }
    expect((await ana.post(`${bench.api}/1/${kind}`, circle)).status).toBe(400)
    expect((await ana.post(at, { blocking_merge_request_id: 999_999 })).status).toBe(404)
    expect((await ana.get(`${bench.api}/2`)).body.detailed_merge_status).toBe(
      'merge_request_blocked',
    )
    expect((await ana.put(`${bench.api}/2/merge`)).status).toBe(405)
    expect((await guest.get(at)).body).toHaveLength(1)
    const blockees = await ana.get(`${bench.api}/1/blockees`)
    expect(blockees.body[0].blocked_merge_request.iid).toBe(2)
    expect((await ana.put(`${bench.api}/1/merge`)).status).toBe(200)
    expect((await bench.read(2)).body.detailed_merge_status).toBe('mergeable')
    expect((await ana.delete(`${at}/${made.body.id}`)).status).toBe(204)
    expect((await ana.delete(`${at}?block_id=${made.body.id}`)).status).toBe(404)
    const again = await ana.post(at, input)
    expect((await ana.delete(`${at}?block_id=${again.body.id}`)).status).toBe(204)
    expect((await ana.get(at)).body).toEqual([])
  },
)

test('context commits are shown beside the own ones, until they are taken away', async () => {
  const { bench } = await stage()
  const sha = git(bench.project.path, ['rev-parse', 'main'])
  const at = `${bench.api}/1/context_commits`
  const made = await ana.post(at, { commits: [sha] })
  expect([made.status, made.body[0].id]).toEqual([201, sha])
  expect((await ana.get(at)).body).toHaveLength(1)
  expect((await ana.post(at, { commits: [sha] })).body.message).toContain('are already created')
  expect((await ana.post(at, { commits: ['1'.repeat(40)] })).status).toBe(400)
  expect((await guest.post(at, { commits: [sha] })).status).toBe(403)
  expect((await ana.delete(`${at}?commits[]=${'1'.repeat(40)}`)).status).toBe(400)
  const both = async (act: () => Promise<Reply>) =>
    (await atOnce(world, [act, act])).map(({ status }) => status).sort()
  expect(await both(() => ana.delete(`${at}?commits[]=${sha}`))).toEqual([204, 400])
  expect((await ana.get(at)).body).toEqual([])
  expect(await both(() => ana.post(at, { commits: [sha] }))).toEqual([201, 400])
  expect((await ana.get(at)).body).toHaveLength(1)
})

test('an approval may publish the review that led to it', async () => {
  const { bench } = await stage()
  const ben = await world.user('ben')
  await addMember(world, bench.project.id, ben.id, 30)
  await ben.post(`${bench.api}/1/draft_notes`, { note: 'Fine' })
  expect((await ben.post(`${bench.api}/1/approve`, { publish_review: true })).status).toBe(201)
  const { body } = await ana.get(`${bench.api}/1/notes?activity_filter=only_comments`)
  expect(body[0].body).toBe('Fine')
  expect((await guest.put(`${bench.api}/1/reset_approvals`)).status).toBe(401)
})
