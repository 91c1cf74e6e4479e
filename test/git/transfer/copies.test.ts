import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Repo } from '../../../src/git/repo.ts'
import { writeBundle } from '../../../src/git/transfer/bundle.ts'
import { fetchObjects } from '../../../src/git/transfer/fetch-objects.ts'
import { streamSnapshot } from '../../../src/git/transfer/snapshot.ts'
import { commitFiles, fsck } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
const refsOf = (at: Pick<Repo, 'path'>) =>
  git(at.path, ['for-each-ref', '--format=%(refname) %(objectname)'])

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const first = commitFiles(repo, { files: { 'a.txt': 'a\n', 'ü/b': 'b\n' } })
  commitFiles(repo, { files: { 'a.txt': 'aa\n' } })
  commitFiles(repo, { files: { c: 'c\n' }, parents: [first], ref: 'refs/heads/side' })
  git(repo.path, ['tag', '-a', '-m', 'one', 'v1', first])
  git(repo.path, ['pack-refs', '--all'])
  git(repo.path, ['repack', '-adq'])
  // Some refs and objects stay loose.
  commitFiles(repo, { files: { d: 'd\n' }, parents: [first], ref: 'refs/merge-requests/1/head' })
})
afterAll(() => world.close())

describe('a bundle', () => {
  test('holds branches and tags with all that they need, and nothing else', async () => {
    const path = join(world.folder, 'all.bundle')
    expect(await writeBundle(repo, path)).toBe(true)
    const clone = join(world.folder, 'bundled.git')
    git(world.folder, ['clone', '-q', '--mirror', path, clone])
    const expected = refsOf(repo)
      .split('\n')
      .filter((line) => !line.startsWith('refs/merge-requests/'))
    expect(refsOf({ path: clone }).split('\n')).toEqual(expected)
    expect(fsck({ path: clone })).toBe('')
  })

  test('of a repository without branches and tags is none', async () => {
    const empty = await world.repository()
    commitFiles(empty, { files: { a: 'a' }, ref: 'refs/merge-requests/1/head' })
    const path = join(world.folder, 'none.bundle')
    expect(await writeBundle(empty, path)).toBe(false)
    expect(existsSync(path)).toBe(false)
  })

  test('is not written once its caller has gone, and an unwritable place is an error', async () => {
    const gone = AbortSignal.abort()
    await expect(writeBundle(repo, join(world.folder, 'x'), gone)).rejects.toMatchObject({
      code: 'timeout',
    })
    const nowhere = join(world.folder, 'no', 'such', 'folder')
    await expect(writeBundle(repo, nowhere)).rejects.toMatchObject({ code: 'failed' })
  })
})

describe('a snapshot', () => {
  const unpack = async (at: Repo, name: string): Promise<string> => {
    const folder = join(world.folder, name)
    mkdirSync(folder)
    const tar = await buffer(streamSnapshot(at))
    execFileSync('tar', ['-x', '-C', folder], { input: tar })
    return folder
  }

  test('is a repository also where all refs and objects are packed', async () => {
    const packed = await world.repository()
    const id = commitFiles(packed, { files: { a: 'a' } })
    git(packed.path, ['pack-refs', '--all'])
    git(packed.path, ['repack', '-adq'])
    const copy = { path: await unpack(packed, 'packed') }
    expect(git(copy.path, ['rev-parse', 'main'])).toBe(id)
    expect(fsck(copy)).toBe('')
  })

  test('is the repository: its refs, HEAD and objects, loose and packed', async () => {
    git(repo.path, ['symbolic-ref', 'HEAD', 'refs/heads/side'])
    const copy = { path: await unpack(repo, 'snapshot') }
    expect(git(copy.path, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/side')
    expect(refsOf(copy)).toBe(refsOf(repo))
    expect(fsck(copy)).toBe('')
    git(repo.path, ['symbolic-ref', 'HEAD', 'refs/heads/main'])
  })

  test('leaves out what is being written and how the server is set up', async () => {
    const temporary = ['tmp_obj_x', 'pack/tmp_pack_y', 'pack/.tmp-z.pack']
    for (const name of temporary) writeFileSync(join(repo.path, 'objects', name), 'half')
    writeFileSync(join(repo.path, 'refs/heads/main.lock'), '')
    const copy = await unpack(repo, 'clean')
    for (const name of temporary) expect(existsSync(join(copy, 'objects', name))).toBe(false)
    expect(existsSync(join(copy, 'refs/heads/main.lock'))).toBe(false)
    for (const name of ['config', 'hooks', 'info']) expect(existsSync(join(copy, name))).toBe(false)
    for (const name of temporary) rmSync(join(repo.path, 'objects', name))
    rmSync(join(repo.path, 'refs/heads/main.lock'))
  })

  test('that fails before anybody reads it says so to whoever reads it then', async () => {
    const broken = await world.repository()
    rmSync(join(broken.path, 'objects'), { recursive: true })
    symlinkSync('objects', join(broken.path, 'objects'))
    const snapshot = streamSnapshot(broken)
    await new Promise((resolve) => snapshot.once('close', resolve))
    await expect(buffer(snapshot)).rejects.toMatchObject({ code: 'ELOOP' })
  })

  test('of an empty repository is its HEAD, and of none at all it is nothing', async () => {
    const empty = await world.repository()
    const copy = await unpack(empty, 'empty')
    expect(git(copy, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
    const tar = await buffer(streamSnapshot(repoAt(join(world.folder, 'nothing.git'))))
    // Two empty blocks: the end of a tar.
    expect(tar.equals(Buffer.alloc(1024))).toBe(true)
  })
})

describe('objects of another repository of the server', () => {
  test('come with a commit that is no tip, and no ref moves', async () => {
    const target = await world.repository()
    const old = git(repo.path, ['rev-parse', 'main~1'])
    await fetchObjects(target, repo, old)
    expect(git(target.path, ['rev-list', '--objects', old]).split('\n').length).toBeGreaterThan(3)
    expect(refsOf(target)).toBe('')
    expect(existsSync(join(target.path, 'FETCH_HEAD'))).toBe(false)
  })

  test('come with a ref, also one that clients do not see', async () => {
    const target = await world.repository()
    for (const ref of ['refs/heads/side', 'refs/merge-requests/1/head']) {
      await fetchObjects(target, repo, ref)
      const id = git(repo.path, ['rev-parse', ref])
      expect(git(target.path, ['cat-file', '-t', id])).toBe('commit')
    }
    expect(refsOf(target)).toBe('')
  })

  test('that are there already are fetched by nobody, and of itself a repository has all', async () => {
    const before = git(repo.path, ['count-objects', '-v'])
    await fetchObjects(repo, repoAt(repo.path), 'refs/heads/none')
    expect(git(repo.path, ['count-objects', '-v'])).toBe(before)
    const target = await world.repository()
    await fetchObjects(target, repo, 'refs/heads/main')
    const fetched = git(target.path, ['count-objects', '-v'])
    await fetchObjects(target, repo, 'refs/heads/main')
    expect(git(target.path, ['count-objects', '-v'])).toBe(fetched)
  })

  test('with faults that this server has taken in once are not refused the second time', async () => {
    const faulty = await world.repository()
    const tree = git(repo.path, ['rev-parse', 'main^{tree}'])
    await fetchObjects(faulty, repo, 'refs/heads/main')
    const id = git(faulty.path, ['hash-object', '-w', '-t', 'commit', '--literally', '--stdin'], {
      input: `tree ${tree}\nauthor A <a@b 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`,
    })
    const target = await world.repository()
    await fetchObjects(target, faulty, id)
    expect(git(target.path, ['cat-file', '-t', id])).toBe('commit')
  })

  test('are not looked for under what is no name, or in a repository that is gone', async () => {
    const target = await world.repository()
    for (const wanted of ['--upload-pack=x', 'main', '+refs/heads/main:refs/heads/x', '']) {
      await expect(fetchObjects(target, repo, wanted)).rejects.toMatchObject({ code: 'invalid' })
    }
    await expect(fetchObjects(target, repo, 'refs/heads/none')).rejects.toMatchObject({
      code: 'failed',
    })
    await expect(fetchObjects(target, repo, '1'.repeat(40))).rejects.toMatchObject({
      code: 'failed',
    })
    const gone = repoAt(join(world.folder, 'gone.git'))
    await expect(fetchObjects(target, gone, 'refs/heads/main')).rejects.toMatchObject({
      code: 'failed',
    })
    expect(refsOf(target)).toBe('')
  })
})

describe('a fork', () => {
  test('keeps all it has when its source prunes and packs, and the other way round', async () => {
    const source = await world.repository()
    const lost = commitFiles(source, { files: { big: 'x'.repeat(5000) } })
    const id = Number(source.key)
    const fork = await world.store.fork(id, 900)
    git(source.path, ['update-ref', '-d', 'refs/heads/main'])
    git(source.path, ['repack', '-adq'])
    git(source.path, ['prune', '--expire=now'])
    expect(git(fork.path, ['rev-parse', 'main'])).toBe(lost)
    expect(fsck(fork)).toBe('')
    const again = await world.store.fork(900, 901)
    git(fork.path, ['repack', '-adq'])
    expect(fsck(again)).toBe('')
  })

  test('can be made while its source is packed again and again', async () => {
    const source = await world.repository()
    for (let i = 0; i < 6; i += 1) commitFiles(source, { files: { [`f${i}`]: `${i}` } })
    const packing = (async () => {
      for (let i = 0; i < 6; i += 1) {
        commitFiles(source, { files: { more: `${i}` } })
        git(source.path, ['-c', 'repack.writeBitmaps=false', 'repack', i % 2 ? '-adq' : '-dq'])
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const from = Number(source.key)
    const forks = await Promise.all([910, 911, 912].map((key) => world.store.fork(from, key)))
    await packing
    for (const fork of forks) {
      expect(fsck(fork)).toBe('')
      expect(git(fork.path, ['rev-list', '--count', 'main'])).toMatch(/^(6|7|8|9|10|11|12)$/)
    }
  })

  test('of one branch has that one alone, and of a branch that is not there is none', async () => {
    const fork = await world.store.fork(Number(repo.key), 920, 'side')
    expect(refsOf(fork)).toBe(`refs/heads/side ${git(repo.path, ['rev-parse', 'side'])}`)
    expect(git(fork.path, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/side')
    await expect(world.store.fork(Number(repo.key), 921, 'none')).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await world.store.exists(921)).toBe(false)
    await expect(world.store.fork(99_999, 922)).rejects.toMatchObject({ code: 'not_found' })
    await expect(world.store.fork(Number(repo.key), 920)).rejects.toMatchObject({ code: 'exists' })
  })
})
