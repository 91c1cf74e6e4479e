import { gitTimesOf, type Project, postJson, timeOf, timesOf } from './api.ts'
import { blockSize, compareBlocks, git, type Row } from './measure.ts'
import { ask, type Measurement, measurementOf, type Question } from './question.ts'
import type { Subjects } from './subjects.ts'

/** Branches, tags, and how commits relate. */
export function relations(subjects: Subjects): Measurement[] {
  return [
    ...questions(subjects).map(measurementOf),
    { what: 'ahead and behind', measure: (project) => aheadBehind(project, subjects) },
    { what: 'is ancestor', measure: (project) => isAncestor(project, subjects) },
    { what: '10,000 branches', measure: (project) => manyBranches(project, subjects) },
    { what: 'compare', measure: (project) => comparison(project, subjects) },
  ]
}

/** All that the API shows of a branch's commit. */
const fields =
  '%(refname)%00%(objectname)%00%(parent)%00%(authorname)%00%(authoremail)%00%(authordate:iso-strict)%00' +
  '%(committername)%00%(committeremail)%00%(committerdate:iso-strict)%00%(contents)'

/** A commit somewhere down the line, another one in each round. */
const older = (line: readonly string[], round: number) =>
  line[Math.floor((line.length * (round + 1)) / 200)] ?? 'HEAD'

function questions({ line }: Subjects): Question[] {
  const old = (round: number) => older(line, round)
  return [
    {
      what: 'tags',
      ours: () => 'tags?per_page=100',
      theirs: () => [
        'for-each-ref',
        '--count=100',
        '--sort=-creatordate',
        `--format=${fields}`,
        'refs/tags',
      ],
      limit: 0.4,
    },
    {
      what: 'merge base',
      ours: (n) => `merge_base?refs[]=HEAD&refs[]=${old(n)}`,
      theirs: (n) => ['merge-base', 'HEAD', old(n)],
      limit: 0.65,
    },
    {
      what: 'refs of a commit',
      ours: (n) => `commits/${old(n)}/refs?per_page=100`,
      theirs: (n) => ['for-each-ref', `--contains=${old(n)}`],
      limit: 0.4,
    },
    {
      what: 'sequence',
      ours: (n) => `commits/${old(n)}/sequence`,
      theirs: (n) => ['rev-list', '--count', old(n)],
      limit: 0.65,
    },
  ]
}

const ancestorBlocks = 6

async function makeBranch(project: Project, name: string, at: string): Promise<void> {
  await postJson(project, 'repository/branches', { branch: name, ref: at })
}

/** A merge request shows how far its target has gone on. */
async function* aheadBehind(project: Project, { line }: Subjects): AsyncGenerator<Row> {
  const branch = `behind-${Date.now()}`
  const at = line[Math.floor(line.length / 4)] ?? 'HEAD'
  await makeBranch(project, branch, at)
  const made = (await postJson(project, 'merge_requests', {
    source_branch: branch,
    target_branch: project.branch,
    title: 'Far behind',
  })) as { iid: number } // the wire's merge request
  const path = `merge_requests/${made.iid}?include_diverged_commits_count=true`
  for (let i = 0; i < 100; i++) await timeOf(project, path)
  yield await compareBlocks(
    { what: 'ahead and behind', mostRounds: ancestorBlocks * blockSize, limit: 0.4 },
    (rounds) =>
      timesOf(
        project,
        rounds.map(() => path),
      ),
    (rounds) =>
      gitTimesOf(
        project,
        rounds.map(() => ['rev-list', '--left-right', '--count', `HEAD...${at}`]),
      ),
  )
}

/** A branch shows whether it is merged. */
async function* isAncestor(project: Project, { line }: Subjects): AsyncGenerator<Row> {
  const run = Date.now()
  const name = (round: number) => `merged-${run}-${round}`
  const at = (round: number) => older(line, round * 2)
  const mostRounds = ancestorBlocks * blockSize
  // Behind the server's back: whether they are merged has not been worked out when they are asked for.
  const all = Array.from({ length: mostRounds * 2 }, (_, round) => round)
  const lines = all.map((round) => `create refs/heads/${name(round)} ${at(round)}\n`)
  await git(project.stored, ['update-ref', '--stdin'], lines.join(''))
  // As many others warm up.
  for (const n of all.slice(mostRounds)) await timeOf(project, `repository/branches/${name(n)}`)
  yield await compareBlocks(
    { what: 'is ancestor', mostRounds, limit: 0.1 },
    (rounds) =>
      timesOf(
        project,
        rounds.map((n) => `repository/branches/${name(n)}`),
      ),
    (rounds) =>
      gitTimesOf(
        project,
        rounds.map((n) => ['merge-base', '--is-ancestor', at(n), 'HEAD']),
      ),
  )
}

const branches = 10_000

/** As many branches, at five hundred commits; they go again afterwards. */
async function* manyBranches(project: Project, { line }: Subjects): AsyncGenerator<Row> {
  const names = Array.from({ length: branches }, (_, i) => `refs/heads/many/branch-${i}`)
  const at = (i: number) => line[i % 500] ?? line[0]
  const update = (lines: readonly string[]) =>
    git(project.stored, ['update-ref', '--stdin'], lines.join(''))
  await update(names.map((name, i) => `update ${name} ${at(i)}\n`))
  await git(project.stored, ['pack-refs', '--all'])
  const formatted = ['for-each-ref', `--format=${fields}`]
  const page = 'branches?per_page=100'
  try {
    yield await ask(project, {
      what: '10,000 branches, first page',
      ours: () => page,
      theirs: () => ['for-each-ref', 'refs/heads'],
      limit: 0.4,
    })
    yield await ask(project, {
      what: '10,000 branches, first page (git: 100 with all fields)',
      ours: () => page,
      theirs: () => [...formatted, '--count=100', 'refs/heads'],
      limit: 0.4,
    })
    yield await ask(project, {
      what: '10,000 branches, newest first',
      ours: () => `${page}&sort=updated_desc`,
      theirs: () => [...formatted, '--count=100', '--sort=-committerdate', 'refs/heads'],
      limit: 0.4,
    })
    yield await ask(project, {
      what: 'one branch of 10,000',
      ours: (n) => `branches/many%2Fbranch-${n * 7}`,
      theirs: (n) => [...formatted, `refs/heads/many/branch-${n * 7}`],
      limit: 0.3,
    })
  } finally {
    await update(names.map((name) => `delete ${name}\n`))
  }
}

const apart = 10_000

/** Two commits as far apart as ten thousand commits make them. */
async function* comparison(project: Project, { line }: Subjects): AsyncGenerator<Row> {
  const count = async (from: string) =>
    Number(await git(project.stored, ['rev-list', '--count', `${from}..HEAD`]))
  let [low, high] = [0, line.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((await count(line[middle] ?? 'HEAD')) < apart) low = middle + 1
    else high = middle
  }
  const from = (round: number) => line[low + round] ?? 'HEAD'
  yield await ask(project, {
    what: 'compare, 10,000 commits apart',
    ours: (n) => `compare?from=${from(n)}&to=HEAD`,
    theirs: (n) => ['diff', '-M', '-p', `${from(n)}...HEAD`],
    limit: 1,
    rounds: 7,
  })
}
