// Makes the newest merges of a repository once more, picks what they joined onto the branch that they joined it to, takes it back
// after the merge, and compares each with the git program: outcome, tree and the paths that conflict.
// `node --import tsx scripts/bench/history-like-git.ts <repository> 300`. It works in a copy that shares the objects.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OpenRepository } from '../../src/git/engine/open-repository.ts'
import { mergeBasesOf } from '../../src/git/history/merge-base.ts'
import { type Combination, combine, tryCombination } from '../../src/git/merge/combine.ts'
import { mergeNatively } from '../../src/git/merge/native-merge.ts'

const [path = '', count = '300'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'gitstead-history-'))
const identity = { GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x@example.com' }

function git(args: readonly string[], accept = [0]): { code: number; out: string } {
  const env = { ...process.env, ...identity, GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' }
  const done = spawnSync('git', args, { cwd: folder, env, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (!accept.includes(done.status ?? -1)) throw new Error(`git ${args.join(' ')}: ${done.stderr}`)
  return { code: done.status ?? -1, out: done.stdout.trim() }
}

/** The tree that something came to, or the paths that conflict. */
type Result = string | readonly string[]

function mergeOfGit(ours: string, theirs: string): Result {
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', ours, theirs]
  const { code, out } = git(args, [0, 1])
  const [tree = '', ...paths] = out.split('\0').filter(Boolean)
  return code === 0 ? tree : [...new Set(paths)].sort()
}

/** Picks or reverts in a work tree, as people do. */
function pickOfGit(kind: 'cherry-pick' | 'revert', commit: string, onto: string): Result {
  git(['checkout', '-q', '--force', '--detach', onto])
  const { code } = git([kind, '--no-commit', commit], [0, 1])
  if (code === 0) return git(['write-tree']).out
  const paths = git(['diff', '-z', '--name-only', '--diff-filter=U']).out.split('\0')
  return [...new Set(paths.filter(Boolean))].sort()
}

const { signal } = new AbortController()

async function ours(repository: OpenRepository, combination: Combination): Promise<Result> {
  const tried = await tryCombination(repository, combination, signal)
  const made = await combine(repository, combination, signal)
  if (tried.outcome !== made.outcome) throw new Error('a check and the merge differ')
  return made.outcome === 'clean' ? made.treeId : made.paths
}

async function isNative(repository: OpenRepository, combination: Combination): Promise<boolean> {
  if (combination.kind === 'merge') {
    const { ours, theirs } = combination
    const [base, ...others] = await mergeBasesOf(repository, ours, theirs)
    if (base === undefined || others.length > 0) return false
    return (await mergeNatively(repository, { base, ours, theirs })) !== undefined
  }
  const { kind, commit, onto } = combination
  const [base, theirs] = kind === 'revert' ? [commit, `${commit}^`] : [`${commit}^`, commit]
  const id = (name: string) => git(['rev-parse', name]).out
  return (
    (await mergeNatively(repository, { base: id(base), ours: onto, theirs: id(theirs) })) !==
    undefined
  )
}

const found = { merge: [0, 0, 0], 'cherry-pick': [0, 0, 0], revert: [0, 0, 0] }
let conflicts = 0

async function compare(repository: OpenRepository, combination: Combination): Promise<void> {
  const { kind } = combination
  const judge =
    kind === 'merge'
      ? mergeOfGit(combination.ours, combination.theirs)
      : pickOfGit(kind, combination.commit, combination.onto)
  const result = await ours(repository, combination)
  if (typeof judge !== 'string') conflicts += 1
  const tally = found[kind]
  tally[0] = (tally[0] ?? 0) + 1
  if (await isNative(repository, combination)) tally[1] = (tally[1] ?? 0) + 1
  if (JSON.stringify(result) === JSON.stringify(judge)) return
  tally[2] = (tally[2] ?? 0) + 1
  console.log('different:', combination, { ours: result, git: judge })
}

try {
  git(['clone', '-q', '--shared', '--no-checkout', path, folder])
  // As in repositories that are looked after: without it each merge base would be a walk through all commits.
  git(['commit-graph', 'write', '--reachable'])
  const args = ['rev-list', '--parents', '--min-parents=2', '--max-parents=2', '-n', count, 'HEAD']
  const repository = new OpenRepository(join(folder, '.git'))
  for (const line of git(args).out.split('\n').filter(Boolean)) {
    const [merge = '', first = '', second = ''] = line.split(' ')
    await compare(repository, { kind: 'merge', ours: first, theirs: second })
    if (git(['rev-list', '--parents', '-n', '1', second]).out.split(' ').length !== 2) continue
    await compare(repository, { kind: 'cherry-pick', commit: second, onto: first })
    await compare(repository, { kind: 'revert', commit: second, onto: merge })
  }
  for (const [kind, [all, native, different]] of Object.entries(found)) {
    console.log(`${kind}: ${all}, ${native} by libgit2, ${different} different`)
  }
  console.log(`${conflicts} of them conflict`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = Object.values(found).some(([, , different]) => different) ? 1 : 0
