import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listObjectFiles, syncLooseObjects } from '../../../src/git/objects/object-folder.ts'
import { leadsBack } from '../../../src/git/objects/quarantine.ts'
import { git } from '../../support/git.ts'

let folder: string
let objects: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitstead-quarantine-'))
  git(folder, ['init', '-q', '--bare', 'one.git'])
  objects = join(folder, 'one.git/objects')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const store = (content: string) =>
  git(objects, ['hash-object', '-w', '--stdin'], { input: content }).trim()
const pathOf = (id: string) => join(objects, id.slice(0, 2), id.slice(2))

test('it is known whether it holds loose objects, packs or nothing', async () => {
  expect(await listObjectFiles(objects)).toEqual({ loose: [], others: [] })
  const packed = store('packed')
  git(objects, ['pack-objects', '-q', join(objects, 'pack/pack')], { input: `${packed}\n` })
  rmSync(pathOf(packed))
  const loose = [store('one'), store('two')]
  const found = await listObjectFiles(objects)
  expect([...found.loose].sort()).toEqual(loose.map(pathOf).sort())
  expect(found.others.filter((path) => path.endsWith('.pack'))).toHaveLength(1)
})

test('its loose objects are on the disk afterwards, and a folder that is gone is not', async () => {
  const id = store('three')
  // Git makes objects read-only.
  chmodSync(pathOf(id), 0o444)
  const before = readFileSync(pathOf(id))
  await syncLooseObjects(objects)
  expect(readFileSync(pathOf(id))).toEqual(before)
  expect(existsSync(join(folder, 'gone'))).toBe(false)
  await expect(syncLooseObjects(join(folder, 'gone'))).rejects.toThrow('ENOENT')
})

test('its loose commits lead back to what they are made on, past merges, and to nothing else', async () => {
  const tree = git(objects, ['mktree'], { input: '' }).trim()
  const people = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  const commit = (message: string, ...parents: string[]) =>
    git(objects, [
      ...people,
      'commit-tree',
      tree,
      '-m',
      message,
      ...parents.flatMap((parent) => ['-p', parent]),
    ]).trim()
  // In the text of a message it leads nowhere.
  const unrelated = commit('unrelated')
  const base = commit(`base\n\nparent ${unrelated}`)
  const side = commit('side')
  const tip = commit('tip', commit('merge', side, commit('next', base)))
  rmSync(pathOf(base))
  expect(leadsBack(objects, base, tip)).toBe(true)
  expect(leadsBack(objects, side, tip)).toBe(true)
  expect(leadsBack(objects, tip, side)).toBe(false)
  expect(leadsBack(objects, unrelated, tip)).toBe(false)
  rmSync(pathOf(tip))
  expect(leadsBack(objects, base, tip)).toBe(false)
})
