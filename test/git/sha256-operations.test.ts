import { execFileSync } from 'node:child_process'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArchive } from '../../src/git/archive/archive.ts'
import { readCommitStats } from '../../src/git/diff/commit-stats.ts'
import { compareCommits } from '../../src/git/diff/compare.ts'
import { readCommitDiff, readDiff } from '../../src/git/diff/diff.ts'
import { readPatchId } from '../../src/git/diff/patch-id.ts'
import { streamRawDiff } from '../../src/git/diff/raw-diff.ts'
import { readBlame } from '../../src/git/history/blame.ts'
import { listMergedAmong, listRefsContaining } from '../../src/git/history/contains.ts'
import { countCommits } from '../../src/git/history/count.ts'
import { readFileAt } from '../../src/git/history/file.ts'
import { countAheadBehind, findMergeBases, isAncestorOf } from '../../src/git/history/merge-base.ts'
import { checkMerge, rebase, writeMerge } from '../../src/git/merge/merge.ts'
import { pickOnto } from '../../src/git/merge/pick.ts'
import { searchFiles, searchMessages } from '../../src/git/objects/search.ts'
import { findTag } from '../../src/git/refs/tags.ts'
import { updateRefs } from '../../src/git/refs/update-refs.ts'
import type { Repo } from '../../src/git/repo.ts'
import { noObject } from '../../src/git/types.ts'
import { writeCommit } from '../../src/git/write/write-commit.ts'
import { writeTag } from '../../src/git/write/write-tag.ts'
import { fsck } from '../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../support/git.ts'
import { histories, writeHistory } from '../support/random-history.ts'

/** All that the engine does in a repository with ids of SHA-256, judged by git. */
let world: GitWorld
let repo: Repo
let ids: string[] = []
const signer = { name: 'Ana', email: 'ana@example.com', date: '2024-01-02T03:04:05.000+01:00' }
const lines = (text: string) => text.split('\n').filter(Boolean)
const at = (n: number) => ids[n % ids.length] ?? ''
const pairs = () => [3, 7, 11, 16].map((n) => [at(n), at(n * 5 + 1)] as const)

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.store.init(1, { defaultBranch: 'main', objectFormat: 'sha256' })
  const made = fc.sample(histories, { numRuns: 40, seed: 5 })
  const commits = made.toSorted((a, b) => b.length - a.length)[0] ?? []
  ids = writeHistory(repo.path, commits)
  git(repo.path, ['commit-graph', 'write', '--stdin-commits', '--changed-paths'], {
    input: ids.slice(0, 15).join('\n'),
  })
})
afterAll(() => world.close())

describe('with SHA-256', () => {
  test('relations of commits are those of git', async () => {
    for (const [a, b] of pairs()) {
      const bases = lines(gitOrNothing(['merge-base', '--all', a, b]))
      expect((await findMergeBases(repo, [a, b])).toSorted()).toEqual(bases.toSorted())
      const [counted] = await countAheadBehind(repo, a, [b])
      const [behind, ahead] = git(repo.path, ['rev-list', '--left-right', '--count', `${a}...${b}`])
        .split('\t')
        .map(Number)
      expect(counted).toEqual({ ahead, behind })
      expect(await isAncestorOf(repo, a, b)).toBe(bases.includes(a))
      const count = Number(git(repo.path, ['rev-list', '--count', `${a}..${b}`]))
      expect(await countCommits(repo, { revision: `${a}..${b}` })).toBe(count)
      const containing = await listRefsContaining(repo, { revision: a, prefixes: ['refs/tags/'] })
      const args = ['for-each-ref', `--contains=${a}`, '--format=%(refname)', 'refs/tags']
      expect(containing.map(({ name }) => name)).toEqual(lines(git(repo.path, args)))
      const reached = new Set(lines(git(repo.path, ['rev-list', b])))
      expect(await listMergedAmong(repo, { into: b, ids })).toEqual(
        new Set(ids.filter((id) => reached.has(id))),
      )
    }
  })

  test('changes, their lines and their patches are those of git', async () => {
    for (const [from, to] of pairs()) {
      const { files } = await readDiff(repo, { from, to })
      const raw = gitBytes(repo.path, ['diff-tree', '-r', '-M', '--numstat', from, to]).toString()
      expect(files.map(({ additions, deletions }) => `${additions} ${deletions}`)).toEqual(
        lines(raw).map((line) => line.split('\t').slice(0, 2).join(' ')),
      )
      const compared = await compareCommits(repo, { from, to, straight: true })
      expect(compared.diff.files).toEqual(files)
      const shown = lines(git(repo.path, ['rev-list', '--reverse', `${from}..${to}`]))
      expect(new Set(compared.commitIds)).toEqual(new Set(shown))
      const patch = await buffer(await streamRawDiff(repo, { from, to, format: 'diff' }))
      const same = ['diff-tree', '-r', '-p', '-M', '--binary', '--full-index', from, to]
      expect(patch.equals(gitBytes(repo.path, same))).toBe(true)
      if (files.length > 0) expect(await readPatchId(repo, from, to)).toMatch(/^[0-9a-f]{40}$/)
    }
    const some = ids.slice(0, 12)
    const stats = await readCommitStats(repo, some)
    for (const [i, id] of some.entries()) {
      const { files } = await readCommitDiff(repo, { id })
      const total = files.reduce((sum, file) => sum + file.additions, 0)
      expect([id, stats[i]?.additions, stats[i]?.files]).toEqual([id, total, files.length])
    }
  })

  test('files, blame and searches are those of git', async () => {
    const tip = git(repo.path, ['rev-parse', 'main'])
    for (const path of lines(git(repo.path, ['ls-tree', '-r', '--name-only', 'main']))) {
      const file = await readFileAt(repo, { ref: 'main', path, contentUpTo: 1000 })
      expect(file.content?.toString()).toBe(`${git(repo.path, ['show', `main:${path}`])}\n`)
      expect(file.lastCommitId).toBe(
        git(repo.path, ['log', '-1', '--format=%H', 'main', '--', path]),
      )
      const { ranges } = await readBlame(repo, { commitId: tip, path })
      const args = ['blame', '--porcelain', 'main', '--', path]
      const blamed = lines(git(repo.path, args)).filter((line) => /^[0-9a-f]{64} /.test(line))
      expect(ranges.map(({ commitId }) => commitId)).toEqual(
        blamed.map((line) => line.slice(0, 64)),
      )
    }
    const found = await searchFiles(repo, {
      ...{ commitId: tip, text: 'CONTENT', paths: [], context: 0, limit: 100 },
    })
    const grep = lines(git(repo.path, ['grep', '-l', '-i', 'content', 'main']))
    expect(found.map(({ path }) => `main:${path}`)).toEqual(grep)
    const messages = await searchMessages(repo, {
      ...{ commitId: tip, text: 'commit 1', skip: 0, limit: 100 },
    })
    const log = ['log', '--format=%H', '-i', '-F', '--grep=commit 1', 'main']
    expect(messages).toEqual(lines(git(repo.path, log)))
  })

  test('an archive holds its files', async () => {
    const commitId = git(repo.path, ['rev-parse', 'main'])
    const ours = await buffer(await openArchive(repo, { commitId, format: 'tar', name: 'x' }))
    const theirs = gitBytes(repo.path, ['archive', '--prefix=x/', commitId])
    expect(ours.equals(theirs)).toBe(true)
    expect(execFileSync('git', ['get-tar-commit-id'], { input: ours }).toString().trim()).toBe(
      commitId,
    )
  })

  test('commits, tags, merges, picks and reverts are written, and git finds them sound', async () => {
    const parent = git(repo.path, ['rev-parse', 'main'])
    const write = (message: string, path: string, content: string, from = parent) =>
      writeCommit(repo, {
        ...{ parentIds: [from], message, author: signer, committer: signer },
        actions: [{ kind: 'create', path, content: Buffer.from(content) }],
      })
    const ours = await write('ours', 'ours.txt', 'ours\n')
    const theirs = await write('theirs', 'theirs.txt', 'theirs\n')
    const clash = await write('clash', 'ours.txt', 'clash\n')
    expect(ours.id).toHaveLength(64)
    const sides = { ours: ours.id, theirs: theirs.id }
    expect(await checkMerge(repo, sides)).toEqual({ outcome: 'clean' })
    expect(await checkMerge(repo, { ours: ours.id, theirs: clash.id })).toEqual({
      ...{ outcome: 'conflict', paths: ['ours.txt'] },
    })
    const people = { author: signer, committer: signer }
    const merged = await writeMerge(repo, { ...sides, ...people, message: 'merge' })
    const picked = await pickOnto(repo, {
      kind: 'cherry-pick',
      ...{ commit: theirs.id, onto: ours.id, ...people, message: 'pick' },
    })
    const reverted = await pickOnto(repo, {
      kind: 'revert',
      ...{ commit: ours.id, onto: ours.id, ...people, message: 'revert' },
    })
    const rebased = await rebase(repo, { head: theirs.id, onto: ours.id, committer: signer })
    if (merged.outcome !== 'clean' || picked.outcome !== 'clean') throw new Error('no clean merge')
    if (reverted.outcome !== 'clean' || rebased.outcome !== 'clean') throw new Error('not clean')
    const tree = git(repo.path, ['merge-tree', '--write-tree', ours.id, theirs.id])
    expect([merged.treeId, picked.treeId]).toEqual([tree, tree])
    expect(reverted.treeId).toBe(git(repo.path, ['rev-parse', `${parent}^{tree}`]))
    expect(git(repo.path, ['rev-parse', `${rebased.head}^{tree}`])).toBe(tree)
    const tagId = await writeTag(repo, {
      ...{ name: 'v1', targetId: merged.commitId, tagger: signer, message: 'one' },
    })
    await updateRefs(repo, [
      { name: 'refs/tags/v1', oldId: noObject, newId: tagId },
      { name: 'refs/heads/merged', oldId: noObject, newId: merged.commitId },
    ])
    expect(await findTag(repo, 'v1')).toMatchObject({
      ...{ id: tagId, commit: { id: merged.commitId }, tag: { message: 'one' } },
    })
    await updateRefs(repo, [
      { name: 'refs/heads/merged', oldId: merged.commitId, newId: rebased.head },
    ])
    // Over the wire nothing has as many zeros as an id has digits.
    const zeros = '0'.repeat(64)
    const one = { name: 'refs/heads/one', oldId: zeros, newId: merged.commitId }
    await updateRefs(repo, [one])
    await expect(updateRefs(repo, [one])).rejects.toMatchObject({ code: 'exists' })
    const two = { name: 'refs/heads/two', oldId: zeros, newId: merged.commitId }
    await updateRefs(repo, [two, { ...one, oldId: merged.commitId, newId: zeros }])
    await updateRefs(repo, [{ ...two, oldId: merged.commitId, newId: zeros }])
    expect(git(repo.path, ['for-each-ref', 'refs/heads/one', 'refs/heads/two'])).toBe('')
    expect(fsck(repo)).toBe('')
  })
})

/** What git prints, also where it ends with 1 for "none". */
function gitOrNothing(args: readonly string[]): string {
  try {
    return git(repo.path, args)
  } catch {
    return ''
  }
}
