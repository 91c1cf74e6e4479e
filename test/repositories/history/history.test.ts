import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let basic: TestProject
let merges: TestProject
let orphans: TestProject

beforeAll(async () => {
  basic = await addProject(world, ana, 'basic')
  merges = await addProject(world, ana, 'merges')
  orphans = await addProject(world, ana, 'orphans')
})

describe('contributors', () => {
  const expected = () => {
    const found = new Map<string, { name: string; commits: number; add: number; del: number }>()
    const text = basic.git('log', '--no-merges', '--numstat', '--format=%x00%ae%n%an', 'main')
    for (const record of text.split('\0').filter(Boolean)) {
      const [email = '', name = '', ...lines] = record.split('\n')
      const one = found.get(email) ?? { name, commits: 0, add: 0, del: 0 }
      one.commits += 1
      for (const line of lines.filter(Boolean)) {
        const [added, deleted] = line.split('\t')
        one.add += Number(added)
        one.del += Number(deleted)
      }
      found.set(email, one)
    }
    return [...found].map(([email, { name, commits, add, del }]) => {
      return { name, email, commits, additions: add, deletions: del }
    })
  }

  test.each([
    ['order_by=commits', (a, b) => a.commits - b.commits],
    ['order_by=name&sort=desc', (a, b) => (a.name < b.name ? 1 : -1)],
    ['order_by=email', (a, b) => (a.email < b.email ? -1 : 1)],
  ] as [string, (a: Row, b: Row) => number][])(
    'by %s are what git counts',
    async (query, compare) => {
      const reply = await ana.get(`${basic.api}/contributors?${query}`)
      const rows = expected().sort((a, b) => compare(a, b) || (a.email < b.email ? -1 : 1))
      expect(reply.body).toEqual(rows)
      expect(reply.headers.get('x-total')).toBe(String(rows.length))
    },
  )

  test('are counted again after a commit, and page', async () => {
    const before = await ana.get(`${basic.api}/contributors`)
    await ana.post(`${basic.api}/files/new.txt`, {
      branch: 'main',
      commit_message: 'Mine',
      content: '1\n2\n',
    })
    const after = await ana.get(`${basic.api}/contributors?per_page=100`)
    expect(after.body).toHaveLength(before.body.length)
    const mine = after.body.find((each: Row) => each.email === 'ana@example.com')
    const old = before.body.find((each: Row) => each.email === 'ana@example.com')
    expect([mine.commits, mine.additions]).toEqual([old.commits + 1, old.additions + 2])
    // Without an order: by the date of each one's newest commit.
    expect(after.body.at(-1).email).toBe('ana@example.com')
    const second = await ana.get(`${basic.api}/contributors?per_page=1&page=2`)
    expect(second.body).toEqual([after.body[1]])
  })

  test.each([
    ['ref=nowhere', 404, { message: '404 Not found' }],
    ['order_by=size', 400, { error: 'order_by does not have a valid value' }],
  ])('with %s answer %i', async (query, status, body) => {
    const reply = await ana.get(`${basic.api}/contributors?${query}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })
})

interface Row {
  readonly name: string
  readonly email: string
  readonly commits: number
  readonly additions: number
}

describe('the merge base', () => {
  test.each([
    ['refs[]=main&refs[]=feature/one', ['main', 'feature/one']],
    ['refs=old,main', ['old', 'main']],
    ['refs[]=main&refs[]=feature/one&refs[]=old', ['main', 'feature/one', 'old']],
  ])('of %s is what git finds', async (query, refs) => {
    const reply = await ana.get(`${basic.api}/merge_base?${query}`)
    expect(reply.status).toBe(200)
    expect(reply.body.id).toBe(basic.git('merge-base', '--octopus', ...refs))
    expect(reply.body).toMatchObject({ short_id: reply.body.id.slice(0, 8) })
  })

  test('of criss-cross branches is one of the best', async () => {
    const reply = await ana.get(`${merges.api}/merge_base?refs[]=criss&refs[]=cross`)
    const best = merges.git('merge-base', '--all', 'criss', 'cross').split('\n')
    expect(best).toContain(reply.body.id)
  })

  test.each([
    ['refs[]=main', 400, { message: 'Provide at least 2 refs' }],
    ['', 400, { error: 'refs is missing' }],
    ['refs[]=main&refs[]=x', 400, { message: 'Could not find ref: x' }],
    ['refs[]=x&refs[]=main&refs[]=y', 400, { message: 'Could not find refs: x, y' }],
    ['refs[]=main&refs[]=-x', 400, { message: 'Could not find ref: -x' }],
  ])('of %s answers %i', async (query, status, body) => {
    const reply = await ana.get(`${basic.api}/merge_base?${query}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })

  test('of unrelated histories is not found', async () => {
    const reply = await ana.get(`${orphans.api}/merge_base?refs[]=main&refs[]=pages`)
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Merge Base Not Found' }])
  })
})
