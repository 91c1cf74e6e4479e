import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EnginePool } from '../../../src/git/engine/pool.ts'
import { listMergedAmong } from '../../../src/git/history/contains.ts'
import { readLog } from '../../../src/git/history/log.ts'
import { readBlob } from '../../../src/git/objects/blob.ts'
import { readCommit } from '../../../src/git/objects/commit.ts'
import { resolveRevision } from '../../../src/git/objects/revision.ts'
import { findTreeEntry, readTree, readWholeTree } from '../../../src/git/objects/tree.ts'
import { findRef, listRefs, readHead } from '../../../src/git/refs/refs.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'
import { histories, writeHistory } from '../../support/random-history.ts'

/* What the main process reads by itself must be what git says, and what an engine process would have said. */

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

/** Runs a check on a repository whose small reads need no engine process; none may have been started. */
async function inProcess(repo: Repo, check: (local: Repo) => Promise<void>): Promise<void> {
  const engine = new EnginePool({ processes: 1 })
  try {
    await check({ ...repo, engine })
    expect(engine.pids).toEqual([])
  } finally {
    await engine.close()
  }
}

test('first pages of any history are those of git', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(8), fc.boolean(), async (commits, skip, firstParent) => {
      const repo = await world.repository()
      writeHistory(repo.path, commits)
      const limit = 12
      const flags = firstParent ? ['--first-parent'] : []
      const args = ['log', '--format=%H', `--skip=${skip}`, `--max-count=${limit}`, ...flags]
      const expected = git(repo.path, [...args, 'main'])
        .split('\n')
        .filter(Boolean)
      await inProcess(repo, async (local) => {
        const page = await readLog(local, { revision: 'main', skip, limit, firstParent })
        expect(page.commits.map((commit) => commit.id)).toEqual(expected)
        const engine = await readLog(repo, { revision: 'main', skip, limit, firstParent })
        expect(page).toEqual(engine)
      })
    }),
    { numRuns: 25 },
  )
})

test('commits, trees and refs are the same read here as in an engine process', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, [
    {
      parents: [],
      seconds: 1_600_000_000,
      author: 0,
      changes: [
        [0, 1],
        [2, 2],
        [4, 3],
      ],
    },
    { parents: [0], seconds: 1_600_000_100, author: 2, changes: [[1, 1]] },
  ])
  git(repo.path, ['tag', '-a', '-m', 'Marked', 'marked', 'main'])
  const compare = async () => {
    await inProcess(repo, async (local) => {
      for (const revision of ['main', 'HEAD', 'marked', 'refs/tags/c0', 'main~1', 'marked^']) {
        expect(await readCommit(local, revision)).toEqual(await readCommit(repo, revision))
        const here = await resolveRevision(local, revision)
        expect(here).toEqual(await resolveRevision(repo, revision))
        const tree = await readTree(local, { ref: revision, path: 'b' }).catch((error) => error)
        expect(tree).toEqual(await readTree(repo, { ref: revision, path: 'b' }).catch((e) => e))
      }
      const entry = await findTreeEntry(local, { ref: 'main', path: 'ü/x y' })
      expect(entry).toEqual(await findTreeEntry(repo, { ref: 'main', path: 'ü/x y' }))
      expect(await readHead(local)).toEqual(await readHead(repo))
      expect(await findRef(local, 'refs/tags/marked')).toEqual(
        await findRef(repo, 'refs/tags/marked'),
      )
      await expect(readCommit(local, 'nowhere')).rejects.toMatchObject({ code: 'not_found' })
      await expect(readCommit(local, '-x')).rejects.toMatchObject({ code: 'invalid' })
    })
  }
  await compare()
  git(repo.path, ['gc', '-q'])
  git(repo.path, ['pack-refs', '--all'])
  await compare()
})

test('a ref that moves is seen at once', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, [
    { parents: [], seconds: 1_600_000_000, author: 0, changes: [[0, 1]] },
    { parents: [0], seconds: 1_600_000_100, author: 0, changes: [[0, 2]] },
  ])
  await inProcess(repo, async (local) => {
    for (let i = 0; i < 20; i += 1) {
      git(repo.path, ['update-ref', 'refs/heads/moving', `c${i % 2}`])
      if (i % 3 === 0) git(repo.path, ['pack-refs', '--all'])
      const expected = git(repo.path, ['rev-parse', `c${i % 2}`])
      expect((await readCommit(local, 'refs/heads/moving')).id).toBe(expected)
    }
    git(repo.path, ['update-ref', '-d', 'refs/heads/moving'])
    expect(await findRef(local, 'refs/heads/moving')).toBeUndefined()
  })
})

test('what is large, short or damaged is left to an engine process', async () => {
  const repo = await world.repository()
  const [first = ''] = writeHistory(repo.path, [
    { parents: [], seconds: 1_600_000_000, author: 0, changes: [[0, 1]] },
    { parents: [0], seconds: 1_600_000_100, author: 0, changes: [[0, 2]] },
  ])
  const large = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x'.repeat(70_000) })
  const engine = new EnginePool({ processes: 1 })
  const local = { ...repo, engine }
  try {
    expect((await readBlob(local, large)).size).toBe(70_000)
    expect(engine.pids).toHaveLength(1)
    expect((await readCommit(local, first.slice(0, 9))).id).toBe(first)
    git(repo.path, ['repack', '-adq'])
    const packs = join(repo.path, 'objects/pack')
    const pack = readdirSync(packs).find((name) => name.endsWith('.pack')) ?? ''
    git(repo.path, ['prune-packed'])
    engine.forget(repo.path)
    truncateSync(join(packs, pack), statSync(join(packs, pack)).size >> 1)
    await expect(readCommit(local, 'c0')).rejects.toMatchObject({ code: expect.any(String) })
  } finally {
    await engine.close()
  }
})

test('commits that another one contains are those that git lists', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(), async (commits, number) => {
      const repo = await world.repository()
      const ids = writeHistory(repo.path, commits)
      const into = ids[number % ids.length] ?? ''
      const reached = new Set(git(repo.path, ['rev-list', into]).split('\n'))
      const expected = new Set(ids.filter((id) => reached.has(id)))
      expect(await listMergedAmong(repo, { into, ids })).toEqual(expected)
      // Now from what is remembered, in part.
      expect(await listMergedAmong(repo, { into, ids: ids.slice(1) })).toEqual(
        new Set(ids.slice(1).filter((id) => reached.has(id))),
      )
    }),
    { numRuns: 15 },
  )
})

test('a whole tree is the text of what a page of it would be', async () => {
  const repo = await world.repository()
  writeHistory(repo.path, [
    {
      parents: [],
      seconds: 1_600_000_000,
      author: 0,
      changes: [
        [0, 1],
        [2, 2],
        [3, 1],
        [4, 3],
      ],
    },
  ])
  for (const path of ['', 'b']) {
    const listed = await readTree(repo, { ref: 'main', path, recursive: true })
    const text = await readWholeTree(repo, { ref: 'main', path })
    expect(JSON.parse(text.toString())).toEqual(listed.entries)
    // What is known of the tree is given without an engine process.
    await inProcess(repo, async (local) => {
      expect(await readWholeTree(local, { ref: 'HEAD', path })).toEqual(text)
    })
  }
  const missing = readWholeTree(repo, { ref: 'main', path: 'nowhere' })
  await expect(missing).rejects.toMatchObject({ code: 'not_found', detail: { path: 'nowhere' } })
})

const names = fc.uniqueArray(
  fc.stringMatching(/^[a-z]{1,3}(?:\/[a-z]{1,3}){0,2}[-.é!]?[a-z0-9]{0,6}[a-z]$/),
  { minLength: 1, maxLength: 40, selector: (name) => name.split('/')[0] },
)

test('packed refs are found and listed as git does, whether the file says it is sorted or not', async () => {
  await fc.assert(
    fc.asyncProperty(names, fc.boolean(), async (branches, sorted) => {
      const repo = await world.repository()
      const [id = ''] = writeHistory(repo.path, [
        { parents: [], seconds: 1_600_000_000, author: 0, changes: [[0, 1]] },
      ])
      git(repo.path, ['tag', '-a', '-m', 'Marked', 'marked', 'c0'])
      const updates = branches.map((name) => `create refs/heads/x/${name} ${id}\n`)
      git(repo.path, ['update-ref', '--stdin'], { input: updates.join('') })
      git(repo.path, ['pack-refs', '--all'])
      if (!sorted) {
        const lines = git(repo.path, ['for-each-ref', '--format=%(objectname) %(refname)'])
        writeFileSync(join(repo.path, 'packed-refs'), `${lines.split('\n').reverse().join('\n')}\n`)
      }
      const expected = git(repo.path, ['for-each-ref', '--format=%(refname)']).split('\n')
      const listed = await listRefs(repo, { prefix: 'refs/' })
      expect(listed.map((ref) => ref.name)).toEqual(expected)
      await inProcess(repo, async (local) => {
        for (const name of expected) {
          const oid = git(repo.path, ['rev-parse', name])
          expect(await findRef(local, name)).toEqual({ name, id: oid })
          expect(await findRef(local, `${name}-`)).toBeUndefined()
        }
        expect(await findRef(local, 'refs/heads/x')).toBeUndefined()
        expect(await findRef(local, 'refs/a')).toBeUndefined()
        expect(await findRef(local, 'refs/z')).toBeUndefined()
      })
    }),
    { numRuns: 8 },
  )
})
