import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { countAheadBehind } from '../../src/git/history/merge-base.ts'
import { checkMerge, writeMerge } from '../../src/git/merge/merge.ts'
import { openGit } from '../../src/git/store.ts'
import { askWhole, callOf, gitTimeOf, type Project, postJson, timeOf } from './api.ts'
import { compareTimes, git, milliseconds, type Row } from './measure.ts'
import { type Measurement, warmUp } from './question.ts'
import type { Subjects } from './subjects.ts'

/** Merges against `git merge-tree`, and the changes of a merge request against `git diff`. */
export function merges(subjects: Subjects): Measurement[] {
  return [
    { what: 'merge check', measure: (project) => mergeRows(project, subjects) },
    {
      what: 'mergeability, 1,000 commits apart',
      measure: (project) => farApart(project, subjects),
    },
    { what: 'cherry-pick', measure: (project) => picks(project, subjects, 'cherry-pick') },
    { what: 'revert', measure: (project) => picks(project, subjects, 'revert') },
    { what: 'changes of a merge request', measure: (project) => changes(project) },
  ]
}

const rounds = 15
const person = { name: 'Bench', email: 'bench@example.com', date: '2026-01-01T00:00:00.000Z' }

/** The sides of real merges, where git merges them without conflict. */
async function sidesOfMerges(project: Project, { line, start }: Subjects): Promise<string[][]> {
  const from = line[start] ?? 'HEAD'
  const args = ['log', '--first-parent', '--merges', '-60', '--format=%P', from]
  const found: string[][] = []
  for (const parents of (await git(project.stored, args)).split('\n')) {
    const sides = parents.split(' ')
    if (sides.length !== 2) continue
    const merged = await git(project.stored, ['merge-tree', '--write-tree', ...sides]).catch(
      () => '',
    )
    if (merged !== '') found.push(sides)
  }
  return found
}

/**
 * What a merge costs the engine, in a process of its own as the server has it: the API answers from what a background
 * task has found out.
 */
async function* mergeRows(project: Project, subjects: Subjects): AsyncGenerator<Row> {
  const sides = await sidesOfMerges(project, subjects)
  if (sides.length === 0) return
  const store = openGit({ dataDir: project.server.data, engineProcesses: 2 })
  const repo = store.open(project.number)
  const at = (round: number) => {
    const [ours = '', theirs = ''] = sides[round % sides.length] ?? []
    return { ours, theirs }
  }
  const theirs = (round: number) =>
    gitTimeOf(project, ['merge-tree', '--write-tree', at(round).ours, at(round).theirs])
  const asWritten = { author: person, committer: person, message: 'Merge' }
  try {
    // With merges that are not measured afterwards.
    const others = sides.length - rounds - 1
    if (others > 0) await warmUp((n) => checkMerge(repo, at(rounds + 1 + (n % others))))
    yield await compareTimes(
      { what: 'merge check', rounds, limit: 1 },
      (round) => milliseconds(() => checkMerge(repo, at(round))),
      theirs,
    )
    yield await compareTimes(
      { what: 'clean merge', rounds, limit: 1 },
      (round) => milliseconds(() => writeMerge(repo, { ...at(round), ...asWritten })),
      theirs,
    )
  } finally {
    await store.close()
  }
}

/** Two branches that have each gone on for 500 commits, and what is asked before they may be merged. */
async function* farApart(project: Project, { line }: Subjects): AsyncGenerator<Row> {
  const { stored } = project
  const ours = (await git(stored, ['rev-parse', 'HEAD'])).trim()
  const count = async (from: string) =>
    Number(await git(stored, ['rev-list', '--count', `${from}..HEAD`]))
  let [low, high] = [0, line.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((await count(line[middle] ?? 'HEAD')) < 500) low = middle + 1
    else high = middle
  }
  const branch = `refs/heads/bench-apart-${Date.now()}`
  await git(stored, ['fast-import', '--quiet'], lineOf(branch, line[low] ?? 'HEAD', 500))
  const theirs = (await git(stored, ['rev-parse', branch])).trim()
  const store = openGit({ dataDir: project.server.data, engineProcesses: 2 })
  const repo = store.open(project.number)
  try {
    yield await compareTimes(
      { what: 'mergeability, 1,000 commits apart', rounds, limit: 1 },
      () =>
        milliseconds(async () => {
          await countAheadBehind(repo, ours, [theirs])
          await checkMerge(repo, { ours, theirs })
        }),
      () => gitTimeOf(project, ['merge-tree', '--write-tree', ours, theirs]),
    )
  } finally {
    await store.close()
    await git(stored, ['update-ref', '-d', branch])
  }
}

function lineOf(branch: string, from: string, count: number): string {
  const commits = Array.from({ length: count }, (_, i) =>
    [
      `commit ${branch}`,
      `committer Bench <bench@example.com> ${1_700_000_000 + i} +0000`,
      ...['data 2', 'm', ...(i === 0 ? [`from ${from}`] : [])],
      `M 100644 inline bench-apart/${i % 50}/file-${i}`,
      ...[`data ${`${i}\n`.length}`, `${i}`, ''],
    ].join('\n'),
  )
  return `${commits.join('\n')}\n`
}

/** How far back the branch stands that commits are picked onto. */
const picksBack = 300

/** Commits picked onto a branch, or taken back on it, against git in a work tree that has the branch checked out. */
async function* picks(
  project: Project,
  { line, start }: Subjects,
  kind: 'cherry-pick' | 'revert',
): AsyncGenerator<Row> {
  const { stored, timer } = project
  const base = line[Math.min(start + picksBack, line.length - 100)] ?? 'HEAD'
  const desk = join(project.folder, `desk-${kind}`)
  await git(project.folder, ['clone', '-q', '--shared', '--no-checkout', stored, desk])
  await git(desk, ['checkout', '-q', '--detach', base])
  const range = kind === 'revert' ? base : `${base}..HEAD`
  const listed = await git(stored, ['rev-list', '--no-merges', '--reverse', '-n', '80', range])
  const asGitDoes = (commit: string) =>
    kind === 'revert' ? ['revert', '--no-edit', commit] : ['cherry-pick', commit]
  const clean: string[] = []
  for (const commit of listed.split('\n')) {
    if (clean.length > 2 * rounds) break
    const done = await git(desk, asGitDoes(commit)).then(
      () => true,
      () => false,
    )
    if (done) clean.push(commit)
    await git(desk, ['reset', '-q', '--hard', base])
  }
  const run = Date.now()
  const at = (round: number) => clean[round % clean.length] ?? ''
  // As for reads, with picks that are not measured afterwards: a server has been asked for a while.
  for (const [n, commit] of clean.splice(rounds + 1).entries()) {
    const branch = `bench-warm-${kind}-${run}-${n}`
    await git(stored, ['update-ref', `refs/heads/${branch}`, base])
    await askWhole(project, `commits/${commit}/${kind.replace('-', '_')}`, { branch })
  }
  yield await compareTimes(
    { what: `${kind} through the API`, rounds: Math.min(rounds, clean.length - 1), limit: 1 },
    async (round) => {
      const branch = `bench-${kind}-${run}-${round}`
      await git(stored, ['update-ref', `refs/heads/${branch}`, base])
      const path = `repository/commits/${at(round)}/${kind.replace('-', '_')}`
      return timer.http({ ...callOf(project, path), body: JSON.stringify({ branch }) })
    },
    async (round) => {
      await git(desk, ['reset', '-q', '--hard', base])
      return timer.git(desk, asGitDoes(at(round)))
    },
  )
  await rm(desk, { recursive: true })
}

const changedFiles = 1000

/** A merge request that changes the first line of a thousand files. */
async function* changes(project: Project): AsyncGenerator<Row> {
  const { stored } = project
  const listed = await git(stored, ['ls-tree', '-r', '-l', 'HEAD'])
  const paths = listed
    .split('\n')
    .filter((entry) => entry.startsWith('100644') && Number(entry.split(/\s+/)[3]) < 20_000)
    .map((entry) => entry.slice(entry.indexOf('\t') + 1))
    .filter((path) => !path.startsWith('"'))
    .slice(0, changedFiles)
  const branch = `bench-changes-${Date.now()}`
  const file = (path: string) => `M 100644 inline ${path}\ndata 8\nchanged\n`
  const head = `commit refs/heads/${branch}\ncommitter B <b@example.com> 1700000000 +0000\ndata 2\nm\n`
  await git(
    stored,
    ['fast-import', '--quiet'],
    `${head}from ${await git(stored, ['rev-parse', 'HEAD'])}\n${paths.map(file).join('')}\n`,
  )
  const made = (await postJson(project, 'merge_requests', {
    source_branch: branch,
    target_branch: project.branch,
    title: 'Changes many files',
  })) as { iid: number } // the wire's merge request
  yield await compareTimes(
    { what: `changes of a merge request, ${paths.length} files`, rounds: 7, limit: 1 },
    () => timeOf(project, `merge_requests/${made.iid}/changes`),
    () => gitTimeOf(project, ['diff', '-M', '-p', `HEAD...refs/heads/${branch}`]),
  )
}
