import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { ownedName } from '../../src/base/process-mark.ts'
import { runGit } from '../../src/git/command.ts'
import { findFaults } from '../../src/git/maintenance/faults.ts'
import type { Repo } from '../../src/git/repo.ts'
import { type GitStore, openGit } from '../../src/git/store.ts'
import { openStore } from '../../src/store/connection.ts'
import { gitstead } from '../support/command-line.ts'

let data = ''
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gitstead-doctor-'))
})
afterEach(() => rmSync(data, { recursive: true, force: true }))

test('a folder without data is healthy, and stays empty', async () => {
  const { code, out } = await gitstead(join(data, 'none'), ['doctor'])
  expect(code).toBe(0)
  expect(out).toContain('none yet, the first start makes it')
})

test('a database of an older version is named, and not upgraded', async () => {
  const store = openStore(data, { migrations: [], synchronous: 'off' })
  await store.close()
  for (let time = 0; time < 2; time++) {
    const { code, out } = await gitstead(data, ['doctor'])
    expect(code).toBe(1)
    expect(out).toContain('FAILURE database: the database is of an older version')
  }
})

test('a file that is no database is named', async () => {
  writeFileSync(
    join(data, 'gitstead.db'),
    'no database at all, just some text that goes on'.repeat(99),
  )
  const { code, out } = await gitstead(data, ['doctor', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out).healthy).toBe(false)
  expect(out).toContain('is not a database')
})

test('what a crash left over is counted, and removed on request', async () => {
  await openStore(data, { migrations, synchronous: 'off' }).close()
  mkdirSync(join(data, 'tmp/import-1'), { recursive: true })
  mkdirSync(join(data, 'tmp/import-2'))
  const owned = ownedName('import-')
  mkdirSync(join(data, 'tmp', owned))
  mkdirSync(join(data, 'tmp/form-999999999-1-0123456789ab'))
  const old = new Date(Date.now() - 48 * 3600 * 1000)
  utimesSync(join(data, 'tmp/import-1'), old, old)
  expect((await gitstead(data, ['doctor'])).out).toContain('2 left over by a crash')
  expect((await gitstead(data, ['doctor', '--mend'])).out).toContain('removed 2')
  // One that is being written, and a young one that may be.
  expect(readdirSync(join(data, 'tmp'))).toEqual([owned, 'import-2'].sort())
})

describe('a repository', () => {
  let git: GitStore
  let repo: Repo
  beforeEach(async () => {
    git = openGit({ dataDir: data, engineProcesses: 0 })
    repo = await git.init(7, { defaultBranch: 'main' })
  })
  afterEach(() => git.close())

  const look = (more: { deep?: boolean; mend?: boolean } = {}) =>
    findFaults(repo, { deep: false, mend: false, ...more })

  test('a new one has no faults', async () => {
    await expect(look({ deep: true })).resolves.toMatchObject({ faults: [], mended: [] })
  })

  test('what a killed process left is reported at once, and removed on request', async () => {
    writeFileSync(join(repo.path, 'refs/heads/x.lock'), '')
    mkdirSync(join(repo.path, 'objects/tmp_objdir-incoming-a1b2c3'))
    const left = ['refs/heads/x.lock', 'objects/tmp_objdir-incoming-a1b2c3']
    const found = await look()
    expect(found.faults).toEqual([])
    expect(found.leftOver).toEqual(
      left.map((name) => `${name} is left over by a process that is gone`),
    )
    expect((await look({ mend: true })).mended).toEqual(
      left.map((name) => `removed ${name}, whose process is gone`),
    )
    await expect(look()).resolves.toMatchObject({ faults: [], mended: [] })
  })

  test('a HEAD that names no branch is reported', async () => {
    writeFileSync(join(repo.path, 'HEAD'), '')
    expect((await look()).faults).toEqual(['HEAD names no branch'])
  })

  test('a damaged object is found when every object is read', async () => {
    const args = ['hash-object', '-w', '--stdin']
    const { stdout } = await runGit({ repo: repo.path, args, stdin: 'content' })
    const id = stdout.toString().trim()
    const path = join(repo.path, 'objects', id.slice(0, 2), id.slice(2))
    rmSync(path)
    writeFileSync(path, 'garbage')
    expect((await look()).faults).toEqual([])
    expect((await look({ deep: true })).faults.join('\n')).toContain(id)
  })
})
