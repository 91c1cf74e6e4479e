import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'Bea')
let at: string
let issues: string

beforeAll(async () => {
  const { id } = await createProject(ana, 'filtered')
  at = `/projects/${id}`
  issues = `${at}/issues`
  await addMember(world, id, bea.id, 30)
})

async function iids(query: string, who = ana): Promise<number[]> {
  const { status, body } = await who.get(`${issues}?sort=asc&per_page=100&${query}`)
  expect([query, status]).toEqual([query, 200])
  return body.map((issue: { iid: number }) => issue.iid)
}

/** Every list of the table, with how many its statistics count. */
async function expectLists(table: readonly (readonly [string, readonly number[]])[]) {
  for (const [query, expected] of table) {
    expect([query, await iids(query)]).toEqual([query, expected])
    const { body } = await ana.get(`${at}/issues_statistics?${query}`)
    expect([query, body.statistics.counts.all]).toEqual([query, expected.length])
  }
}

describe('lists of issues', () => {
  let milestones: number[]

  beforeAll(async () => {
    const milestone = async (title: string, more: object) =>
      (await ana.post(`${at}/milestones`, { title, ...more })).body.id
    milestones = [
      await milestone('past', { start_date: '2026-01-01', due_date: '2026-02-01' }),
      await milestone('now', { start_date: '2026-05-01', due_date: '2026-06-01' }),
      await milestone('later', { start_date: '2026-08-01', due_date: '2026-09-01' }),
    ]
    const [past, now, later] = milestones
    world.setNow('2026-05-01T00:00:00.000Z')
    await ana.post(issues, { title: 'Alpha_1', labels: 'a,b', milestone_id: past, weight: 0 })
    world.setNow('2026-05-02T00:00:00.000Z')
    await bea.post(issues, {
      title: 'beta',
      description: 'ALPHA inside\nof 100% words',
      labels: 'a',
      milestone_id: now,
      assignee_ids: [ana.id, bea.id],
    })
    world.setNow('2026-05-03T00:00:00.000Z')
    await ana.post(issues, { title: 'Gamma', milestone_id: later, assignee_id: bea.id })
    await ana.post(issues, { title: 'größe 大', confidential: true, issue_type: 'task' })
    await ana.put(`${issues}/3`, { state_event: 'close' })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('narrow by labels: all of them, none, any, but not by part of a name', async () => {
    await expectLists([
      ['labels=a', [1, 2]],
      ['labels=a,b', [1]],
      ['labels[]=a&labels[]=b', [1]],
      ['labels=None', [3, 4]],
      ['labels=none', [3, 4]],
      ['labels=Any', [1, 2]],
      ['labels=unknown', []],
      ['labels=A', []],
      ['labels=', [1, 2, 3, 4]],
      ['not[labels]=a,b', [3, 4]],
      ['not[labels][]=b', [2, 3, 4]],
      ['labels=a&not[labels]=b', [2]],
    ])
  })

  test('narrow by milestone: its title, its number, its days', async () => {
    const [past, now] = milestones
    await expectLists([
      ['milestone=now', [2]],
      ['milestone=None', [4]],
      ['milestone=Any', [1, 2, 3]],
      ['milestone=unknown', []],
      [`milestone_id=${past}`, [1]],
      ['milestone_id=Any', [1, 2, 3]],
      ['milestone_id=Upcoming', [2, 3]],
      ['milestone_id=Started', [1, 2]],
      ['not[milestone]=now', [1, 3, 4]],
      ['not[milestone_id]=Started', [3, 4]],
      [`milestone_id=${now}&labels=b`, []],
    ])
    await ana.put(`${at}/milestones/${now}`, { state_event: 'close' })
    expect(await iids('milestone_id=Upcoming')).toEqual([3])
    await ana.put(`${at}/milestones/${now}`, { state_event: 'activate' })
  })

  test('narrow by people, whose names have no case', async () => {
    await expectLists([
      [`author_id=${bea.id}`, [2]],
      ['author_username=bea', [2]],
      ['author_username=BEA', [2]],
      ['author_username=nobody', []],
      [`assignee_id=${bea.id}`, [2, 3]],
      ['assignee_id=0', [1, 4]],
      ['assignee_username=ana', [2]],
      ['assignee_username[]=Bea', [2, 3]],
      ['assignee_username[]=ana&assignee_username[]=Bea', [2]],
      ['scope=assigned_to_me', [2]],
      ['scope=created-by-me', [1, 3, 4]],
      [`not[author_id]=${ana.id}`, [2]],
      [`not[assignee_id]=${ana.id}`, [1, 3, 4]],
      [`author_id=${ana.id}&assignee_id=${bea.id}`, [3]],
    ])
  })

  test('find every word of a search, in any order and case, signs taken literally', async () => {
    await expectLists([
      ['search=alpha', [1, 2]],
      ['search=alpha&in=title', [1]],
      ['search=alpha&in=description', [2]],
      ['search=alpha&in=title,description', [1, 2]],
      ['search=words+inside', [2]],
      ['search=words+nowhere', []],
      ['search=alpha_', [1]],
      ['search=100%25', [2]],
      ['search=%25', [2]],
      [`search=${encodeURIComponent('大')}`, [4]],
      ['search=', [1, 2, 3, 4]],
    ])
    expect((await ana.get(`${issues}?search=x&in=notes`)).status).toBe(400)
  })

  test('narrow by number, weight, kind and days, both ends counted in', async () => {
    await expectLists([
      ['iids[]=2&iids[]=4', [2, 4]],
      ['iids=2,4', [2, 4]],
      ['iids[]=99', []],
      ['not[iids]=2,4', [1, 3]],
      ['weight=0', [1]],
      ['weight=None', [2, 3, 4]],
      ['weight=Any', [1]],
      ['not[weight]=0', [2, 3, 4]],
      ['issue_type=task', [4]],
      ['issue_type=issue', [1, 2, 3]],
      ['confidential=true', [4]],
      ['confidential=false', [1, 2, 3]],
      ['created_after=2026-05-02T00:00:00Z', [2, 3, 4]],
      ['created_before=2026-05-02T00:00:00Z', [1, 2]],
      ['created_after=2026-05-02T00:00:00Z&created_before=2026-05-02', [2]],
      ['created_after=2026-05-02T02:00:00%2B02:00', [2, 3, 4]],
      ['updated_before=2026-05-01T23:59:59Z', [1]],
    ])
  })

  test('narrow by state, which statistics count apart', async () => {
    expect(await iids('state=opened')).toEqual([1, 2, 4])
    expect(await iids('state=closed')).toEqual([3])
    expect(await iids('state=all')).toEqual([1, 2, 3, 4])
    expect((await ana.get(`${issues}?state=merged`)).body).toEqual({
      error: 'state does not have a valid value',
    })
    const { body } = await ana.get(`${at}/issues_statistics?author_username=ana`)
    expect(body).toEqual({ statistics: { counts: { all: 3, closed: 1, opened: 2 } } })
  })

  test('count and page what the caller may see', async () => {
    const guest = await world.user('guest')
    await addMember(world, Number(at.split('/')[2]), guest.id, 10)
    expect(await iids('', guest)).toEqual([1, 2, 3])
    const { headers } = await guest.get(`${issues}?per_page=2`)
    expect([headers.get('x-total'), headers.get('x-total-pages')]).toEqual(['3', '2'])
    const { body } = await guest.get(`${at}/issues_statistics`)
    expect(body.statistics.counts.all).toBe(3)
    expect(await iids('confidential=true', guest)).toEqual([])
  })
})

describe('days that issues are due', () => {
  let due: string

  beforeAll(async () => {
    const { id } = await createProject(ana, 'dated')
    due = `/projects/${id}/issues`
    // The clock is at Monday, 4 May 2026.
    const days = ['2026-04-19', '2026-04-20', '2026-05-03', '2026-05-04', '2026-05-05']
    days.push('2026-05-10', '2026-05-11', '2026-05-31', '2026-06-01', '2026-06-30', '2026-07-01')
    for (const day of days) await ana.post(due, { title: day, due_date: day })
    await ana.post(due, { title: 'never' })
  })

  test.each([
    ['0', ['never']],
    ['overdue', ['2026-04-19', '2026-04-20', '2026-05-03']],
    ['today', ['2026-05-04']],
    ['tomorrow', ['2026-05-05']],
    ['week', ['2026-05-04', '2026-05-05', '2026-05-10']],
    ['month', ['2026-05-03', '2026-05-04', '2026-05-05', '2026-05-10', '2026-05-11', '2026-05-31']],
  ])('%s', async (value, expected) => {
    const { body } = await ana.get(`${due}?due_date=${value}&sort=asc`)
    expect(body.map((issue: { title: string }) => issue.title)).toEqual(expected)
  })

  test('reach from two weeks ago to the end of the next month', async () => {
    const { body } = await ana.get(`${due}?due_date=next_month_and_previous_two_weeks&sort=asc`)
    const titles = body.map((issue: { title: string }) => issue.title)
    expect([titles[0], titles.at(-1), titles.length]).toEqual(['2026-04-20', '2026-06-30', 9])
  })

  test('are other ones when time goes on', async () => {
    world.setNow('2026-12-31T23:00:00.000Z')
    const { body } = await ana.get(`${due}?due_date=overdue`)
    expect(body).toHaveLength(11)
    expect((await ana.get(`${due}?due_date=month`)).body).toEqual([])
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})
