import { gitTimeOf, type Project, timeOf } from './api.ts'
import { compareTimes, git, median, type Row } from './measure.ts'
import type { Measurement } from './question.ts'
import type { Subjects } from './subjects.ts'

const contributors = 'repository/contributors?per_page=100'

/** Who made a repository. */
export function people({ line }: Subjects): Measurement[] {
  return [
    { what: 'contributors, first time', measure: firstTime },
    { what: 'contributors, again', measure: again },
    { what: 'contributors, after a push', measure: (project) => afterPush(project, line) },
  ]
}

/** Half a minute for each side: measured once, with nothing remembered. */
async function* firstTime(project: Project): AsyncGenerator<Row> {
  await project.server.forgetContributors()
  yield await compareTimes(
    { what: 'contributors, first time', rounds: 1, mostRounds: 0, limit: 1.1 },
    () => timeOf(project, contributors),
    () => gitTimeOf(project, ['log', '--no-merges', '--numstat', '--format=%aN %aE']),
  )
}

async function* again(project: Project): AsyncGenerator<Row> {
  await timeOf(project, contributors)
  const times: number[] = []
  for (let i = 0; i < 15; i++) times.push(await timeOf(project, contributors))
  yield millisecondsRow('contributors, again', times)
}

/** Commits that nobody has counted yet, ten of them in each round. */
async function* afterPush(project: Project, line: readonly string[]): AsyncGenerator<Row> {
  await timeOf(project, contributors)
  const times: number[] = []
  let tip = line[0] ?? 'HEAD'
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < 10; i++) tip = await oneMore(project, tip)
    const time = await timeOf(project, `${contributors}&ref=${tip}`)
    if (round > 0) times.push(time)
  }
  yield millisecondsRow('contributors, after a push', times)
}

/** A commit after another that adds a file with its own content. */
async function oneMore(project: Project, parent: string): Promise<string> {
  const run = (args: readonly string[], input?: string) => git(project.stored, args, input)
  const text = `${parent}\n`
  const blob = await run(['hash-object', '-w', '--stdin'], text)
  const root = await run(['ls-tree', parent])
  const rest = root.split('\n').filter((entry) => !entry.endsWith('\tbench.txt'))
  const tree = await run(['mktree'], `${rest.join('\n')}\n100644 blob ${blob}\tbench.txt\n`)
  return await run(['commit-tree', '-p', parent, '-m', 'One more', tree])
}

function millisecondsRow(what: string, times: readonly number[]): Row {
  const value = median(times)
  return { what, ours: `${value.toFixed(1)} ms`, theirs: '', value, unit: 'ms', limit: 50 }
}
