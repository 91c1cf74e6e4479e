import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')
let bench: Bench

beforeAll(async () => {
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, guest.id, 10)
  bench.commit('work', { 'a.txt': 'a' })
})

describe.each(['issues', 'merge_requests'] as const)('time of %s', (kind) => {
  let one: string

  beforeAll(async () => {
    const at = `/projects/${bench.project.id}/${kind}`
    const work = { source_branch: 'work', target_branch: 'main' }
    const { body } = await ana.post(at, {
      title: 'x',
      ...(kind === 'issues' ? {} : work),
    })
    one = `${at}/${body.iid}`
  })

  test.each([
    ['1mo', 576_000, '1mo'],
    ['1w', 144_000, '1w'],
    ['1d', 28_800, '1d'],
    ['3h30m', 12_600, '3h 30m'],
    ['1w 2d 4h', 216_000, '1w 2d 4h'],
    ['90s', 90, '1m 30s'],
    ['1.5h', 5400, '1h 30m'],
    ['2', 7200, '2h'],
    ['0h', 0, null],
  ])('%s is an estimate of %i seconds', async (duration, seconds, human) => {
    const reply = await ana.post(`${one}/time_estimate`, { duration })
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        time_estimate: seconds,
        total_time_spent: 0,
        human_time_estimate: human,
        human_total_time_spent: null,
      },
    ])
    expect((await ana.get(one)).body.time_stats).toEqual(reply.body)
  })

  test('is added up, taken back as far as there is some, and reset', async () => {
    const spend = (duration: string) =>
      ana.post(`${one}/add_spent_time`, { duration, summary: 'Work' })
    expect(await spend('1h')).toMatchObject({
      status: 201,
      body: { total_time_spent: 3600 },
    })
    expect((await spend('45m')).body.human_total_time_spent).toBe('1h 45m')
    expect((await spend('-15m')).body.total_time_spent).toBe(5400)
    const refused = await spend('-2h')
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        message: '400 Bad request - Time to subtract exceeds the total time spent',
      },
    ])
    expect((await ana.get(`${one}/time_stats`)).body.total_time_spent).toBe(5400)
    expect(await ana.post(`${one}/reset_spent_time`)).toMatchObject({
      status: 200,
      body: { total_time_spent: 0, human_total_time_spent: null },
    })
    const notes = (await ana.get(`${one}/notes?sort=asc&per_page=100`)).body
    const said = notes.map((note: { body: string }) => note.body)
    expect(said).toContain('changed time estimate to 3h 30m')
    expect(said).toContain('removed time estimate')
    expect(said.slice(-4)).toEqual([
      'added 1h of time spent',
      'added 45m of time spent',
      'subtracted 15m of time spent',
      'removed time spent',
    ])
  })

  test.each(['soon', '', '1x', '1h and more', '99999999mo'])('is not %j', async (duration) => {
    for (const path of ['time_estimate', 'add_spent_time']) {
      const reply = await ana.post(`${one}/${path}`, { duration })
      expect([reply.status, reply.body]).toEqual([
        400,
        { message: '400 Bad request - duration is invalid' },
      ])
    }
  })

  test('needs a duration, and the right to plan', async () => {
    expect((await ana.post(`${one}/add_spent_time`)).body).toEqual({
      error: 'duration is missing',
    })
    for (const path of ['time_estimate', 'add_spent_time']) {
      expect((await guest.post(`${one}/${path}`, { duration: '1h' })).status).toBe(403)
    }
  })
})
