import { beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench
let head: string
let base: string
let minute = 10

beforeAll(async () => {
  bench = await openBench(world, ana)
  base = bench.project.git('rev-parse', 'main')
  head = bench.commit('topic', { 'dir/inner.txt': 'inner\n', 'top.txt': 'top\n' })
  bench.project.git('tag', 'marked', head)
  bench.project.git('tag', '-a', '-m', 'Marked', 'annotated', head)
  expect((await bench.open('topic')).status).toBe(200)
})

const forms: [string, () => string][] = [
  ['a branch', () => 'topic'],
  ['a full branch name', () => 'refs/heads/topic'],
  ['a tag', () => 'marked'],
  ['an annotated tag', () => 'annotated'],
  ['a full tag name', () => 'refs/tags/annotated'],
  ['an id', () => head],
  ['a short id', () => head.slice(0, 10)],
  ['the head of a merge request', () => 'refs/merge-requests/1/head'],
]

describe.each(forms)('%s', (_, form) => {
  const ask = (rest: string) => ana.get(`${bench.project.api}/${rest}`)
  const ref = () => encodeURIComponent(form())

  test('names the same files, commits and differences', async () => {
    const tree = await ask(`tree?recursive=true&ref=${ref()}`)
    const paths = tree.body.map((one: { path: string }) => one.path)
    expect(paths.sort()).toEqual(['README.md', 'dir', 'dir/inner.txt', 'top.txt'])

    const file = await ask(`files/dir%2Finner.txt?ref=${ref()}`)
    expect(file.body).toMatchObject({ ref: form(), commit_id: head, last_commit_id: head })
    expect((await ask(`files/dir%2Finner.txt/raw?ref=${ref()}`)).body).toBe('inner\n')
    const blame = await ask(`files/dir%2Finner.txt/blame?ref=${ref()}`)
    expect(blame.body).toMatchObject([{ commit: { id: head }, lines: ['inner'] }])

    const list = await ask(`commits?ref_name=${ref()}`)
    expect(list.body.map((one: { id: string }) => one.id)).toEqual([head, base])
    expect((await ask(`commits/${ref()}`)).body.id).toBe(head)

    const compared = await ask(`compare?from=main&to=${ref()}`)
    expect(compared.body.commits.map((one: { id: string }) => one.id)).toEqual([head])
    expect((await ask(`compare?from=topic&to=${ref()}`)).body.compare_same_ref).toBe(true)
    const merged = await ask(`merge_base?refs[]=main&refs[]=${ref()}`)
    expect(merged.body.id).toBe(base)
    expect((await ask(`contributors?ref=${ref()}`)).body).toMatchObject([{ commits: 2 }])
    // Five archives a minute are the limit.
    minute += 1
    world.setNow(`2026-05-04T10:${minute}:00.000Z`)
    const archive = await ask(`archive.tar?sha=${ref()}`)
    expect(archive.status).toBe(200)
    expect(archive.headers.get('content-disposition')).toContain(head)
  })
})

describe('the path of a folder', () => {
  test.each(['dir', 'dir/'])('%s lists what is in it', async (path) => {
    const reply = await ana.get(
      `${bench.project.api}/tree?ref=topic&path=${encodeURIComponent(path)}`,
    )
    expect(reply.body.map((one: { path: string }) => one.path)).toEqual(['dir/inner.txt'])
  })

  test.each(['top.txt', 'none', 'dir/none', '../dir'])('%s is none', async (path) => {
    const at = `${bench.project.api}/tree?ref=topic&path=${encodeURIComponent(path)}`
    expect((await ana.get(at)).status).toBe(404)
  })
})

describe('the merge requests of a commit', () => {
  const of = (sha: string, query = '') =>
    ana.get(`${bench.project.api}/commits/${sha}/merge_requests${query}`)

  test('are those that bring it in, by their state', async () => {
    expect((await of(head)).body).toMatchObject([{ iid: 1, state: 'opened' }])
    expect((await of(head, '?state=opened')).body).toHaveLength(1)
    expect((await of(head, '?state=closed')).body).toEqual([])
    expect((await of(base)).body).toEqual([])
    await ana.put(`${bench.api}/1`, { state_event: 'close' })
    expect((await of(head, '?state=closed')).body).toMatchObject([{ iid: 1 }])
    await ana.put(`${bench.api}/1`, { state_event: 'reopen' })
    expect((await of(head, '?state=opened')).body).toHaveLength(1)
  })
})

test('the refs of a commit are its branches, then its tags', async () => {
  const refs = async (sha: string, query = '') =>
    (await ana.get(`${bench.project.api}/commits/${sha}/refs${query}`)).body
  const tags = ['annotated', 'marked'].map((name) => ({ type: 'tag', name }))
  const topic = { type: 'branch', name: 'topic' }
  expect(await refs(head)).toEqual([topic, ...tags])
  expect(await refs(head, '?type=tag')).toEqual(tags)
  expect(await refs(head, '?type=branch')).toEqual([topic])
  expect(await refs(base, '?type=branch')).toEqual([{ type: 'branch', name: 'main' }, topic])
})
