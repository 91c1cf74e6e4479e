import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Hold } from '../../src/base/hold.ts'
import { type GitStore, openGit } from '../../src/git/store.ts'
import { listObjectFiles } from '../../src/git/transfer/copy-out.ts'
import { openFileStore } from '../../src/store/files.ts'

let data = ''
let git: GitStore
const deletions = new Hold()
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gitstead-held-'))
  git = openGit({ dataDir: data, engineProcesses: 0, deletions })
})
afterEach(async () => {
  await git.close()
  rmSync(data, { recursive: true, force: true })
})

test('a repository that is removed while deletions are held is gone, and its files stay until then', async () => {
  const { path } = await git.init(7, { defaultBranch: 'main' })
  mkdirSync(join(path, 'objects/ab'))
  writeFileSync(join(path, 'objects/ab', 'c'.repeat(38)), 'object')
  const release = deletions.take()
  const alsoHeld = deletions.take()
  await git.remove(7)
  expect(await git.exists(7)).toBe(false)
  expect(existsSync(path)).toBe(false)
  // Where a backup finds them, also beside a new repository of the name.
  await git.init(7, { defaultBranch: 'main' })
  expect(listObjectFiles(path).map(({ name }) => name)).toEqual([`objects/ab/${'c'.repeat(38)}`])
  release()
  expect(listObjectFiles(path)).toHaveLength(1)
  alsoHeld()
  await expect.poll(() => readdirSync(dirname(path))).toEqual(['7.git'])
})

test('no repository comes or goes while moves of refs are paused', async () => {
  await git.init(7, { defaultBranch: 'main' })
  const resume = await git.moves.pause(1000)
  const removed = git.remove(7)
  const made = git.init(8, { defaultBranch: 'main' })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect([await git.exists(7), await git.exists(8)]).toEqual([true, false])
  resume()
  await Promise.all([removed, made])
  expect([await git.exists(7), await git.exists(8)]).toEqual([false, true])
})

test('a stored file is not deleted while deletions are held', async () => {
  const files = await openFileStore(data, { deletions })
  const { sha256 } = await files.put([Buffer.from('bytes')])
  const future = '2999-01-01T00:00:00.000Z'
  const release = deletions.take()
  expect(await files.deleteOlder(sha256, future)).toBe(false)
  expect(await files.sizeOf(sha256)).toBe(5)
  release()
  expect(await files.deleteOlder(sha256, future)).toBe(true)
  expect(await files.sizeOf(sha256)).toBeUndefined()
})
