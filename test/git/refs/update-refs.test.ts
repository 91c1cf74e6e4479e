import { fork } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateRefs } from '../../../src/git/refs/update-refs.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { noObject } from '../../../src/git/types.ts'
import { commitFiles, fsck } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let a: string
let b: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  a = commitFiles(repo, { files: { a: '1' } })
  b = commitFiles(repo, { files: { a: '2' } })
})
afterAll(() => world.close())

const holds = (name: string) => git(repo.path, ['for-each-ref', '--format=%(objectname)', name])
const branch = (name: string) => `refs/heads/${name}`

describe('one ref', () => {
  test('is made, moved and deleted when it holds what the caller saw', async () => {
    const name = branch('one')
    await updateRefs(repo, [{ name, oldId: noObject, newId: a }])
    expect(holds(name)).toBe(a)
    await updateRefs(repo, [{ name, oldId: a, newId: b }])
    expect(holds(name)).toBe(b)
    await updateRefs(repo, [{ name, oldId: b, newId: noObject }])
    expect(holds(name)).toBe('')
  })

  test.each(['loose', 'packed'])('that moved meanwhile stays where it is, %s', async (kind) => {
    const name = branch(`moved-${kind}`)
    await updateRefs(repo, [{ name, oldId: noObject, newId: a }])
    if (kind === 'packed') git(repo.path, ['pack-refs', '--all'])
    const stale = { code: 'stale' }
    await expect(updateRefs(repo, [{ name, oldId: b, newId: a }])).rejects.toMatchObject(stale)
    await expect(updateRefs(repo, [{ name, oldId: b, newId: noObject }])).rejects.toMatchObject(
      stale,
    )
    await expect(updateRefs(repo, [{ name, oldId: noObject, newId: b }])).rejects.toMatchObject({
      code: 'exists',
    })
    expect(holds(name)).toBe(a)
    await updateRefs(repo, [{ name, oldId: a, newId: b }])
    expect(holds(name)).toBe(b)
  })

  test('that is gone can neither be moved nor deleted', async () => {
    const name = branch('gone')
    const stale = { code: 'stale' }
    await expect(updateRefs(repo, [{ name, oldId: a, newId: b }])).rejects.toMatchObject(stale)
    await expect(updateRefs(repo, [{ name, oldId: a, newId: noObject }])).rejects.toMatchObject(
      stale,
    )
  })

  test.each(['loose', 'packed'])('in the way of another is a conflict, %s', async (kind) => {
    const name = branch(`way-${kind}`)
    await updateRefs(repo, [{ name: `${name}/below`, oldId: noObject, newId: a }])
    if (kind === 'packed') git(repo.path, ['pack-refs', '--all'])
    const conflict = { code: 'conflict' }
    await expect(updateRefs(repo, [{ name, oldId: noObject, newId: a }])).rejects.toMatchObject(
      conflict,
    )
    await expect(
      updateRefs(repo, [{ name: `${name}/below/more`, oldId: noObject, newId: a }]),
    ).rejects.toMatchObject(conflict)
    await expect(
      updateRefs(repo, [
        { name, oldId: noObject, newId: a },
        { name: branch('other'), oldId: noObject, newId: a },
      ]),
    ).rejects.toMatchObject(conflict)
    expect(holds(branch('other'))).toBe('')
  })

  test('with a lock that somebody holds is refused as locked, and the others do not move', async () => {
    const name = branch('locked')
    await updateRefs(repo, [{ name, oldId: noObject, newId: a }])
    const lock = join(repo.path, `${name}.lock`)
    const held = openSync(lock, 'wx')
    const locked = { code: 'locked' }
    await expect(updateRefs(repo, [{ name, oldId: a, newId: b }])).rejects.toMatchObject(locked)
    await expect(updateRefs(repo, [{ name, oldId: a, newId: noObject }])).rejects.toMatchObject(
      locked,
    )
    await expect(
      updateRefs(repo, [
        { name: branch('beside'), oldId: noObject, newId: a },
        { name, oldId: a, newId: b },
      ]),
    ).rejects.toMatchObject(locked)
    expect(holds(branch('beside'))).toBe('')
    rmSync(lock)
    closeSync(held)
    await updateRefs(repo, [{ name, oldId: a, newId: b }])
  })

  test('of a branch holds a commit that exists', async () => {
    const name = branch('odd')
    const blob = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x' })
    await expect(updateRefs(repo, [{ name, oldId: noObject, newId: blob }])).rejects.toThrow()
    await expect(
      updateRefs(repo, [{ name, oldId: noObject, newId: '4'.repeat(40) }]),
    ).rejects.toMatchObject({ code: 'not_found' })
    expect(existsSync(join(repo.path, name))).toBe(false)
  })

  test('takes the place of folders that nothing is in, and makes those that are missing', async () => {
    const [empty, deep] = [branch('empty'), branch('some/way/down')]
    mkdirSync(join(repo.path, empty, 'x/y'), { recursive: true })
    await updateRefs(repo, [{ name: empty, oldId: noObject, newId: a }])
    await updateRefs(repo, [{ name: deep, oldId: noObject, newId: a }])
    git(repo.path, ['pack-refs', '--all', '--prune'])
    mkdirSync(join(repo.path, empty), { recursive: true })
    await updateRefs(repo, [{ name: empty, oldId: a, newId: b }])
    await updateRefs(repo, [{ name: deep, oldId: a, newId: b }])
    expect([holds(empty), holds(deep)]).toEqual([b, b])
    expect(existsSync(join(repo.path, `${deep}.lock`))).toBe(false)
  })

  test('that is another name of one is not moved: whoever saw an id saw something else', async () => {
    const name = branch('alias')
    await updateRefs(repo, [{ name: branch('real'), oldId: noObject, newId: a }])
    git(repo.path, ['symbolic-ref', name, branch('real')])
    await expect(updateRefs(repo, [{ name, oldId: a, newId: b }])).rejects.toMatchObject({
      code: 'stale',
    })
    expect(holds(branch('real'))).toBe(a)
  })

  test('of many made at once is there, while others pack refs and take empty folders away', async () => {
    let making = true
    const packing = (async () => {
      while (making) {
        git(repo.path, ['pack-refs', '--all', '--prune'])
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })()
    const names = Array.from({ length: 60 }, (_, i) => branch(`many/${i % 7}/of-${i}`))
    await Promise.all(
      names.map(async (name) => {
        await updateRefs(repo, [{ name, oldId: noObject, newId: a }])
        await updateRefs(repo, [{ name, oldId: a, newId: b }])
      }),
    ).finally(() => {
      making = false
    })
    await packing
    expect(names.map(holds)).toEqual(names.map(() => b))
    expect(fsck(repo)).toBe('')
  })

  test.each([
    'refs/heads/a..b',
    'HEAD',
    'refs/heads/x.lock',
    'refs/heads/a b',
    '--stdin',
    'refs/heads/a\nb',
  ])('%j is no ref name', async (name) => {
    await expect(updateRefs(repo, [{ name, oldId: noObject, newId: a }])).rejects.toMatchObject({
      code: 'invalid',
    })
  })
})

describe('several refs', () => {
  test('move together or not at all', async () => {
    const [x, y, z] = [branch('x'), branch('y'), 'refs/tags/z']
    await updateRefs(repo, [
      { name: x, oldId: noObject, newId: a },
      { name: y, oldId: noObject, newId: a },
    ])
    const failing = updateRefs(repo, [
      { name: x, oldId: a, newId: b },
      { name: y, oldId: b, newId: a },
      { name: z, oldId: noObject, newId: a },
    ])
    await expect(failing).rejects.toMatchObject({ code: 'stale' })
    expect([holds(x), holds(y), holds(z)]).toEqual([a, a, ''])
    await updateRefs(repo, [
      { name: x, oldId: a, newId: noObject },
      { name: y, oldId: a, newId: b },
      { name: z, oldId: noObject, newId: a },
    ])
    expect([holds(x), holds(y), holds(z)]).toEqual(['', b, a])
  })

  test('may not name one twice', async () => {
    const update = { name: branch('twice'), oldId: noObject, newId: a }
    await expect(updateRefs(repo, [update, update])).rejects.toMatchObject({ code: 'invalid' })
  })
})

test('three processes that race for one branch lose no commit', async () => {
  const name = branch('race')
  await updateRefs(repo, [{ name, oldId: noObject, newId: a }])
  const script = fileURLToPath(new URL('./race-writer.mjs', import.meta.url))
  const rounds = 25
  const runs = Array.from(
    { length: 3 },
    (_, i) =>
      new Promise<number | null>((resolve) => {
        const args = [world.folder, repo.key, name, `w${i}`, String(rounds)]
        fork(script, args, { execArgv: [] }).on('exit', resolve)
      }),
  )
  expect(await Promise.all(runs)).toEqual([0, 0, 0])
  const history = git(repo.path, ['log', '--format=%s', `${a}..${name}`]).split('\n')
  expect(history).toHaveLength(3 * rounds)
  expect(new Set(history).size).toBe(3 * rounds)
  expect(git(repo.path, ['ls-tree', '-r', '--name-only', name]).split('\n')).toHaveLength(
    3 * rounds + 1,
  )
  expect(fsck(repo)).toBe('')
}, 60_000)
