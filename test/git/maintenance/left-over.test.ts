import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isOrphaned, ownedName, processMark } from '../../../src/base/process-mark.ts'
import { runGit, startGit } from '../../../src/git/command.ts'
import { EnginePool } from '../../../src/git/engine/pool.ts'
import { findLeftOvers, removeLeftOvers, removeSoon } from '../../../src/git/locks/left-over.ts'
import { argumentsOf } from '../../../src/git/locks/lock-holders.ts'
import { readBlob } from '../../../src/git/objects/blob.ts'
import { updateRefs } from '../../../src/git/refs/update-refs.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { noObject } from '../../../src/git/types.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let tip: string
const started: ChildProcess[] = []

beforeAll(async () => {
  world = openGitWorld(1)
  repo = await world.repository()
  tip = commitFiles(repo, { files: { a: '1' } })
})
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await world.close()
})

const make = (name: string) => updateRefs(repo, [{ name, oldId: noObject, newId: tip }])
const holds = (name: string) => git(repo.path, ['for-each-ref', '--format=%(objectname)', name])
const isHere = (name: string) => existsSync(join(repo.path, name))

/** A git that holds the lock of a ref, as one does between `prepare` and `commit`. */
async function holdByGit(ref: string) {
  const running = startGit({
    repo: repo.path,
    args: ['update-ref', '--no-deref', '--stdin'],
    timeout: 0,
  })
  running.stdin.write(`start\ncreate ${ref} ${tip}\nprepare\n`)
  await expect.poll(() => isHere(`${ref}.lock`)).toBe(true)
  return running
}

/** A process of ours that has a file open which it has made: the lock of a ref, or an object. */
async function holdByNode(name: string): Promise<ChildProcess> {
  const path = join(repo.path, name)
  const script = `require('fs').openSync(${JSON.stringify(path)}, 'wx'); console.log('held'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

describe('the lock of a ref', () => {
  test('that a killed git left is taken over by the next writer', async () => {
    const running = await holdByGit('refs/heads/git-killed')
    running.kill()
    await running.done.catch(() => {})
    await make('refs/heads/git-killed')
    expect(holds('refs/heads/git-killed')).toBe(tip)
  })

  test('that a killed git left goes without any writer', async () => {
    const running = await holdByGit('refs/heads/unwanted')
    running.kill()
    await expect.poll(() => isHere('refs/heads/unwanted.lock')).toBe(false)
  })

  test('that a git holds which runs is left alone, and stops nobody for longer', async () => {
    const running = await holdByGit('refs/heads/git-runs')
    await expect(make('refs/heads/git-runs')).rejects.toMatchObject({ code: 'locked' })
    expect((await removeLeftOvers(repo.path)).removed).toEqual([])
    expect(isHere('refs/heads/git-runs.lock')).toBe(true)
    running.stdin.end('commit\n')
    await running.done
    expect(holds('refs/heads/git-runs')).toBe(tip)
  })

  test('that a process of ours holds which runs is left alone, until it is killed', async () => {
    const child = await holdByNode('refs/heads/ours.lock')
    await expect(make('refs/heads/ours')).rejects.toMatchObject({ code: 'locked' })
    expect(await findLeftOvers(repo.path)).toEqual([])
    child.kill('SIGKILL')
    await once(child, 'exit')
    await make('refs/heads/ours')
    expect(holds('refs/heads/ours')).toBe(tip)
  })

  test('does not live longer because others read the repository', async () => {
    const reader = startGit({ repo: repo.path, args: ['cat-file', '--batch'], timeout: 0 })
    writeFileSync(join(repo.path, 'refs/heads/read.lock'), '')
    await make('refs/heads/read')
    reader.stdin.end()
    await reader.done
  })

  test('of packed refs that is left over stops no deletion', async () => {
    await make('refs/heads/packed')
    await runGit({ repo: repo.path, args: ['pack-refs', '--all'] })
    writeFileSync(join(repo.path, 'packed-refs.lock'), '')
    await updateRefs(repo, [{ name: 'refs/heads/packed', oldId: tip, newId: noObject }])
    expect(holds('refs/heads/packed')).toBe('')
  })
})

describe('an engine that dies', () => {
  test('leaves no lock and no folder', async () => {
    const pool = world.store.engine
    if (!(pool instanceof EnginePool)) throw new Error('the store has no pool')
    const large = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x'.repeat(300_000) })
    await readBlob(repo, large)
    const left = ['refs/heads/dead.lock', 'objects/tmp_objdir-incoming-aB3dE6']
    writeFileSync(join(repo.path, left[0] ?? ''), '')
    mkdirSync(join(repo.path, left[1] ?? ''))
    const reading = readBlob(repo, large)
    for (const pid of pool.pids) process.kill(pid, 'SIGKILL')
    await expect.poll(() => left.filter(isHere)).toEqual([])
    await reading
  })
})

describe('the quarantine of a killed git', () => {
  const quarantine = 'objects/tmp_objdir-incoming-zZ9yY8'

  /** A git that may have made it, for so many milliseconds. */
  async function withGit(milliseconds: number, run: () => Promise<unknown>) {
    mkdirSync(join(repo.path, quarantine))
    const writing = startGit({ repo: repo.path, args: ['fast-import', '--quiet'], timeout: 0 })
    const done = run()
    await sleep(milliseconds)
    expect(isHere(quarantine)).toBe(true)
    writing.stdin.end()
    await writing.done
    return await done
  }

  test('goes when the git is gone that writes at the start of the server', async () => {
    expect(await withGit(100, () => world.store.removeLeftOvers())).toBe(1)
    expect(isHere(quarantine)).toBe(false)
  })

  test('goes when the git is gone that writes while another one is killed', async () => {
    await withGit(1500, async () => {
      const killed = await holdByGit('refs/heads/killed-beside')
      killed.kill()
    })
    await expect.poll(() => isHere(quarantine), { timeout: 10_000 }).toBe(false)
  }, 20_000)

  test('is looked for by one at a time, however many are killed', async () => {
    const ended: number[] = []
    await withGit(400, async () => {
      for (let at = 0; at < 20; at += 1) void removeSoon(repo.path).then(() => ended.push(at))
      await expect.poll(() => ended.length).toBe(19)
      expect(ended).not.toContain(19)
    })
    await expect.poll(() => isHere(quarantine), { timeout: 10_000 }).toBe(false)
    await expect.poll(() => ended.length).toBe(20)
  }, 20_000)

  test('is no reason for a server to wait with its end', async () => {
    const closing = new AbortController()
    await withGit(300, async () => {
      const sweeping = world.store.removeLeftOvers(closing.signal)
      await sleep(100)
      closing.abort()
      expect(await sweeping).toBe(0)
    })
    await removeLeftOvers(repo.path)
  })
})

describe('a temporary name', () => {
  test('names its process, and a pid that was given again is not mistaken for it', () => {
    const mine = ownedName('form-')
    expect(isOrphaned(mine)).toBe(false)
    expect(isOrphaned(`${mine}.new`)).toBe(false)
    const [pid] = (processMark(process.pid) ?? '').split(':')
    expect(isOrphaned(`form-${pid}-1-0123456789ab`)).toBe(true)
    expect(isOrphaned('something-else')).toBe(false)
  })

  test('of a dead process goes, of a running one stays', async () => {
    const mine = `objects/${ownedName('tmp_objdir-check-')}`
    const dead = 'objects/tmp_objdir-merge-999999999-1-0123456789ab'
    for (const name of [mine, dead]) mkdirSync(join(repo.path, name))
    expect((await removeLeftOvers(repo.path)).removed).toEqual([dead])
    expect(isHere(mine)).toBe(true)
  })

  test('that libgit2 gave stays while its process writes the file', async () => {
    const name = 'objects/tmp_object_git2_a1B2c3'
    const child = await holdByNode(name)
    expect(await removeLeftOvers(repo.path)).toEqual({ removed: [], inUse: true })
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await removeLeftOvers(repo.path)).toEqual({ removed: [name], inUse: false })
  })

  test('of a repository that was being made is removed by the next server', async () => {
    const folder = join(world.folder, 'repositories/07')
    mkdirSync(join(folder, '7.git.999999999-1-0123456789ab.new'), { recursive: true })
    expect(await world.store.removeLeftOvers()).toBeGreaterThan(0)
    expect(existsSync(join(folder, '7.git.999999999-1-0123456789ab.new'))).toBe(false)
  })
})

test('an engine of a server that is gone is outlived, and its git programs too', async () => {
  const orphan = spawn(
    'sh',
    ['-c', `cd "${repo.path}"; sleep 20 | git --git-dir . update-ref --stdin & echo $!`],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const [text] = (await once(orphan.stdout, 'data')) as [Buffer]
  await once(orphan, 'exit')
  const pid = Number(text.toString())
  // The shell says the pid before it becomes git.
  await expect.poll(() => argumentsOf(pid)[0]).toBe('git')
  const mark = processMark(pid)
  expect(mark).toBeDefined()
  await world.store.outliveOthers()
  expect(processMark(pid)).not.toBe(mark)
}, 20_000)
