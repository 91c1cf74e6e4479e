import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let basic: TestProject

beforeAll(async () => {
  basic = await addProject(world, ana, 'basic')
})

async function commit(path: string, content: string, message: string, action = 'create') {
  const actions = [{ action, file_path: path, content }]
  const body = { branch: 'main', commit_message: message, actions }
  return (await ana.post(`${basic.api}/commits`, body)).body.id
}

describe('the last commits of a folder', () => {
  test('are what git log says of each entry, and follow a push', async () => {
    await commit('docs/new.txt', 'one', 'Add a file')
    for (let round = 0; round < 2; round += 1) {
      for (const path of ['', 'docs']) {
        const reply = await ana.get(`${basic.api}/last_commits?per_page=100&path=${path}`)
        expect(reply.status).toBe(200)
        const shown = reply.body.map((entry: { path: string; commit: { id: string } }) => {
          return [entry.path, entry.commit.id]
        })
        const expected = shown.map(([at]: [string]) => {
          return [at, basic.git('log', '-1', '--format=%H', 'main', '--', at)]
        })
        expect(shown).toEqual(expected)
      }
      await commit('docs/new.txt', 'two', 'Change it', 'update')
    }
  })

  test('come in pages with the order of the tree', async () => {
    const tree = await ana.get(`${basic.api}/tree?pagination=keyset&per_page=2`)
    const list = await ana.get(`${basic.api}/last_commits?pagination=keyset&per_page=2`)
    const names = (reply: typeof tree) => reply.body.map(({ path }: { path: string }) => path)
    expect(names(list)).toEqual(names(tree))
    expect(list.headers.get('link')).toContain('page_token=')
  })

  test('are 404 for a folder that is not there', async () => {
    expect((await ana.get(`${basic.api}/last_commits?path=no/folder`)).status).toBe(404)
    expect((await ana.get(`${basic.api}/last_commits?ref=no-ref`)).status).toBe(404)
  })
})

test('commits are found by words of their messages, with a path too', async () => {
  await commit('docs/odd.txt', 'x', 'Fix the [parser] of $dates')
  const titles = async (query: string) => {
    const reply = await ana.get(`${basic.api}/commits?${query}`)
    return reply.body.map(({ title }: { title: string }) => title)
  }
  expect(await titles('search=THE+%5Bparser%5D')).toEqual(['Fix the [parser] of $dates'])
  expect(await titles('search=%24dates&path=docs/odd.txt')).toHaveLength(1)
  expect(await titles('search=%24dates&path=README.md')).toEqual([])
  expect(await titles('search=--all')).toEqual([])
})

test('files are found by their paths, the best first', async () => {
  await commit('src/parser/zed.ts', 'x', 'One')
  await commit('zed.ts', 'x', 'Two')
  const found = async (query: string) => (await ana.get(`${basic.api}/file_paths?${query}`)).body
  expect(await found('search=zed.ts')).toEqual(['zed.ts', 'src/parser/zed.ts'])
  expect(await found('search=srcpz')).toEqual(['src/parser/zed.ts'])
  expect(await found('per_page=1')).toHaveLength(1)
  expect((await ana.get(`${basic.api}/file_paths?ref=nowhere`)).status).toBe(404)
})

test('branches show how far they are apart', async () => {
  await ana.post(`${basic.api}/branches`, { branch: 'side', ref: 'main' })
  await commit('behind.txt', 'x', 'Go on')
  const reply = await ana.get(`${basic.api}/divergence?base=main&refs=side,main,nowhere`)
  expect(reply.body).toEqual([
    { ref: 'side', ahead: 0, behind: 1 },
    { ref: 'main', ahead: 0, behind: 0 },
  ])
})

test('weeks count every commit of a branch once', async () => {
  const reply = await ana.get(`${basic.api}/commit_activity?ref=main`)
  const total = reply.body.reduce((sum: number, week: { commits: number }) => sum + week.commits, 0)
  expect(String(total)).toBe(basic.git('rev-list', '--count', 'main'))
  const days = reply.body.map(({ week }: { week: string }) => new Date(week).getUTCDay())
  expect(new Set(days)).toEqual(new Set([1]))
})
