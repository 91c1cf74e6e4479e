import { askJson, gitTimeOf, type Project, timeOf } from './api.ts'
import { compareTimes, git, median, type Row, ratioRow } from './measure.ts'
import { type Measurement, measurementOf, type Question } from './question.ts'
import type { Subjects } from './subjects.ts'

/** Lists of commits. */
export function histories(subjects: Subjects): Measurement[] {
  return [
    ...[...pages(subjects), ...filters(subjects), ...statistics(subjects)].map(measurementOf),
    {
      what: 'commits of one path',
      measure: (project) => pathRows(project, subjects),
    },
  ]
}

const raw = '--format=raw'

function pages({ line, start }: Subjects): Question[] {
  const tip = (round: number) => line[start + round * 3] ?? 'HEAD'
  return [
    {
      what: 'first 20 commits',
      ours: () => 'commits',
      theirs: () => ['log', '-20', raw],
      limit: 0.6,
    },
    {
      what: 'first 100 commits',
      ours: () => 'commits?per_page=100',
      theirs: () => ['log', '-100', raw],
      limit: 0.6,
    },
    {
      what: 'page 500',
      ours: () => 'commits?page=500',
      theirs: () => ['log', '--skip=9980', '-20', raw],
      limit: 0.5,
    },
    {
      what: 'first parents',
      ours: () => 'commits?first_parent=true&per_page=100',
      theirs: () => ['log', '--first-parent', '-100', raw],
      limit: 0.25,
    },
    {
      what: 'topological order',
      ours: (n) => `commits?order=topo&ref_name=${tip(n)}`,
      theirs: (n) => ['log', '--topo-order', '-20', raw, tip(n)],
      limit: 1.5,
    },
  ]
}

function filters({ years }: Subjects): Question[] {
  const span = (round: number) => ({ since: years[round + 1] ?? '', until: years[round] ?? '' })
  const parts = (values: Record<string, string>) => new URLSearchParams(values).toString()
  return [
    {
      what: 'since and until',
      ours: (n) => `commits?${parts(span(n))}`,
      theirs: (n) => ['log', `--since=${span(n).since}`, `--until=${span(n).until}`, '-20', raw],
      limit: 1,
    },
    {
      what: 'one author, first time',
      ours: () => 'commits?author=Nobody%20at%20all',
      theirs: () => ['log', '--author=Nobody at all', '-20', raw],
      limit: 2,
      rounds: 1,
    },
    {
      what: 'one author, again',
      ours: (n) => `commits?author=Nobody%20number%20${n}`,
      theirs: (n) => ['log', `--author=Nobody number ${n}`, '-20', raw],
      limit: 2,
      rounds: 7,
    },
  ]
}

function statistics({ line, start }: Subjects): Question[] {
  const tip = (round: number) => line[start + round * 200] ?? 'HEAD'
  const counted = ['log', '-100', '--shortstat', '--diff-merges=first-parent', raw]
  return [
    {
      what: '100 with stats, first time',
      ours: (n) => `commits?with_stats=true&per_page=100&ref_name=${tip(n)}`,
      theirs: (n) => [...counted, tip(n)],
      limit: 1.2,
      rounds: 7,
    },
    {
      what: '100 with stats, again',
      ours: () => 'commits?with_stats=true&per_page=100',
      theirs: () => counted,
      limit: 0.25,
    },
  ]
}

/** Rounds of each path; every one starts from a tip of its own, so that no walk is remembered. */
const pathRounds = 7

async function* pathRows(project: Project, subjects: Subjects): AsyncGenerator<Row> {
  yield await differingPaths(project, subjects)
  const ratios: number[] = []
  const ours: number[] = []
  const theirs: number[] = []
  for (const path of subjects.paths) {
    const tip = (round: number) => subjects.line[subjects.start + round] ?? 'HEAD'
    const name = encodeURIComponent(path)
    const row = await compareTimes(
      { what: path, rounds: pathRounds },
      async (n) => {
        const time = await timeOf(project, `repository/commits?path=${name}&ref_name=${tip(n)}`)
        ours.push(time)
        return time
      },
      async (n) => {
        const time = await gitTimeOf(project, ['log', '-20', raw, tip(n), '--', path])
        theirs.push(time)
        return time
      },
    )
    ratios.push(row.value)
  }
  const { ours: one, theirs: other } = ratioRow('', ours, theirs)
  const times = { ours: one, theirs: other, unit: 'x' as const }
  const value = median(ratios)
  yield { what: 'commits of one path, the middle of 15', ...times, value, limit: 0.8 }
  const worst = Math.max(...ratios)
  const path = subjects.paths[ratios.indexOf(worst)] ?? ''
  yield { what: `commits of one path, the worst (${path})`, ...times, value: worst, limit: 2 }
}

/** The lists must be git's. */
async function differingPaths(project: Project, { paths }: Subjects): Promise<Row> {
  const theirs = (path: string) => ['log', '-20', '--format=%H', '--', path]
  let differing = 0
  for (const path of paths) {
    const asked = `commits?path=${encodeURIComponent(path)}`
    const ours = (await askJson(project, asked)) as { id: string }[] // the wire's commits
    const ids = ours.map((commit) => commit.id).join('\n')
    if (ids !== (await git(project.stored, theirs(path)))) differing += 1
  }
  return {
    what: 'commits of one path: lists that are not git’s',
    ours: String(differing),
    theirs: '0',
    value: differing,
    unit: 'count',
    limit: 0,
  }
}
