import { callOf, gitTimeOf, type Project, timeOf } from './api.ts'
import { compareTimes, median, type Row, ratioRow } from './measure.ts'
import type { Measurement } from './question.ts'
import { memoryOfAll } from './server.ts'
import type { Subjects } from './subjects.ts'

/** Archives of every format against `git archive`; every round packs a commit that was not packed before. */
export function archives(subjects: Subjects): Measurement[] {
  return [
    ...formats.map(([format, limit]) => ({
      what: `archive ${format}`,
      measure: (project: Project) => archiveRows(project, subjects, format, limit),
    })),
    {
      what: 'archive tar.gz, again',
      measure: (project) => againRows(project, subjects),
    },
    {
      what: 'archive memory',
      measure: (project: Project) => memoryRow(project, subjects),
    },
  ]
}

const formats: readonly (readonly [string, number])[] = [
  ['tar', 1.3],
  ['tar.gz', 0.7],
  ['zip', 1.8],
  ['tar.bz2', 1.1],
]
const rounds = 7
const mebibyte = 1024 * 1024

/** What git has no format of its own for, it pipes through the program. */
const bzip2 = ['-c', 'tar.tar.bz2.command=bzip2 -c']

async function* archiveRows(
  project: Project,
  { line, start }: Subjects,
  format: string,
  limit: number,
): AsyncGenerator<Row> {
  const commit = (round: number) => line[start + round] ?? 'HEAD'
  const firsts: number[] = []
  const what = `archive ${format}`
  yield await compareTimes(
    { what, rounds, limit },
    async (n) => {
      const path = `repository/archive.${format}?sha=${commit(n)}`
      const { milliseconds, first } = await project.timer.answer(callOf(project, path))
      if (n > 0) firsts.push(first)
      return milliseconds
    },
    (n) => gitTimeOf(project, [...bzip2, 'archive', `--format=${format}`, commit(n)]),
  )
  const value = median(firsts)
  const ours = `${value.toFixed(1)} ms`
  yield { what: `${what}, first byte`, ours, theirs: '', value, unit: 'ms', limit: 60 }
}

/** The same archive once more, as of a release that everybody downloads, against the first download. */
async function* againRows(project: Project, { line, start }: Subjects): AsyncGenerator<Row> {
  const path = `repository/archive.tar.gz?sha=${line[start + 40] ?? 'HEAD'}`
  const first = await timeOf(project, path)
  const times: number[] = []
  const firsts: number[] = []
  for (let round = 0; round < 15; round++) {
    const answer = await project.timer.answer(callOf(project, path))
    times.push(answer.milliseconds)
    firsts.push(answer.first)
  }
  const what = 'archive tar.gz, again'
  // The first download stands where git's time does elsewhere.
  yield ratioRow(what, times, [first], 0.02)
  const value = median(firsts)
  const ours = `${value.toFixed(1)} ms`
  yield { what: `${what}, first byte`, ours, theirs: '', value, unit: 'ms', limit: 10 }
}

/** How much more all processes hold while an archive is on its way, once each format was asked for. */
async function* memoryRow(project: Project, { line, start }: Subjects): AsyncGenerator<Row> {
  const ask = (format: string, n: number) =>
    timeOf(project, `repository/archive.${format}?sha=${line[start + n] ?? 'HEAD'}`)
  for (const [format] of formats) await ask(format, 20)
  let most = 0
  for (const [i, [format]] of formats.entries()) {
    const before = memoryOfAll(project.server.pid)
    const timer = setInterval(() => {
      most = Math.max(most, memoryOfAll(project.server.pid) - before)
    }, 20)
    await ask(format, 21 + i)
    clearInterval(timer)
  }
  const value = most / mebibyte
  const ours = `${value.toFixed(1)} MB`
  yield { what: 'archive memory, growth', ours, theirs: '', value, unit: 'MB', limit: 64 }
}
