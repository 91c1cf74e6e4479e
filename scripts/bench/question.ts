import { gitTimeOf, gitTimesOf, type Project, timeOf, timesOf } from './api.ts'
import { compareBlocks, compareTimes, type Row } from './measure.ts'

/** Something to measure, and what `--rows` chooses it by. */
export interface Measurement {
  readonly what: string
  measure(project: Project): AsyncGenerator<Row>
}

/** A question put to both sides; the round varies it where a first answer is to be measured. */
export interface Question {
  readonly what: string
  /** Path and query below the repository of the project. */
  readonly ours: (round: number) => string
  readonly theirs: (round: number) => readonly string[]
  readonly limit: number
  /** What takes long, or is only once what it is, is asked so often by turns; the rest in blocks. */
  readonly rounds?: number
}

/** Questions that differ from round to round differ so often, and a hundred times more to warm up. */
const mostRounds = 96

export function measurementOf(question: Question): Measurement {
  return {
    what: question.what,
    async *measure(project) {
      yield await ask(project, question)
    },
  }
}

export async function ask(project: Project, question: Question): Promise<Row> {
  const { what, limit, rounds } = question
  const ours = (round: number) => `repository/${question.ours(round)}`
  if (rounds !== undefined) {
    return compareTimes(
      { what, limit, rounds },
      (round) => timeOf(project, ours(round)),
      (round) => gitTimeOf(project, question.theirs(round)),
    )
  }
  // Those that differ from round to round differ from the measured ones too.
  const others = Array.from({ length: warmBlock }, (_, n) => ours(mostRounds + n))
  await warmUp(() => timesOf(project, others), { rounds: 5, milliseconds: 2000 })
  return compareBlocks(
    { what, limit, mostRounds },
    (rounds) => timesOf(project, rounds.map(ours)),
    (rounds) => gitTimesOf(project, rounds.map(question.theirs)),
  )
}

/** Questions of one block before the measured ones; each is asked again in the next. */
const warmBlock = 100

/**
 * Asks for a while before it is measured, as a server is asked all day: the engine of JavaScript translates what has
 * run some hundred times.
 */
export async function warmUp(
  ask: (round: number) => Promise<unknown>,
  most = { rounds: 100, milliseconds: 1500 },
): Promise<void> {
  const start = performance.now()
  for (let i = 0; i < most.rounds && performance.now() - start < most.milliseconds; i++) {
    await ask(i)
  }
}

/** Those whose name holds one of the words; all without any. */
export function chosen(
  measurements: readonly Measurement[],
  words: readonly string[] | undefined,
): readonly Measurement[] {
  if (words === undefined) return measurements
  const wanted = words.map((word) => word.trim().toLowerCase()).filter(Boolean)
  return measurements.filter(({ what }) => wanted.some((word) => what.toLowerCase().includes(word)))
}
