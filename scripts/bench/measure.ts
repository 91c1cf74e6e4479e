import { spawn } from 'node:child_process'

/** One line of the table. `ratio` is ours to theirs; `limit` is the figure to stay under. */
export interface Row {
  readonly what: string
  readonly ours: string
  readonly theirs: string
  readonly value: number
  readonly unit: 'x' | 'ms' | 'MB' | 'MB/s' | 'count' | '/s'
  readonly limit?: number | undefined
  /** Whether more is better; the limit is then the least. */
  readonly atLeast?: boolean | undefined
  /** The ratio where each side always comes right after the other, and the medians it is made of. */
  readonly byTurns?:
    | { readonly value: number; readonly ours: string; readonly theirs: string }
    | undefined
}

/** The same for every git: no settings of the machine. */
export const gitEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  LC_ALL: 'C',
}

/** Runs git; throws with what it said when it fails. Gives its output. */
export function git(
  folder: string,
  args: readonly string[],
  input?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, {
      cwd: folder,
      env: { ...gitEnvironment, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(stdout.trim())
      else reject(new Error(`git ${args.join(' ')}: ${stderr}`))
    })
    child.stdin.end(input)
  })
}

export async function milliseconds(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Both ways by turns, so that a slow moment of the machine hits both; the first round only warms up. */
export function compare(
  what: string,
  rounds: number,
  ours: (round: number) => Promise<unknown>,
  theirs: (round: number) => Promise<unknown>,
  limit?: number,
): Promise<Row> {
  const options = { what, rounds, limit }
  return compareTimes(
    options,
    (round) => milliseconds(() => ours(round)),
    (round) => milliseconds(() => theirs(round)),
  )
}

export interface Comparison {
  readonly what: string
  readonly rounds: number
  /** Rounds that quick work may go on for, so that its median is steady. */
  readonly mostRounds?: number
  readonly limit?: number | undefined
}

/** Quick work is repeated until it has been measured for as long. */
const steadyAfter = 1500

/** As `compare`, of ways that give their milliseconds themselves. */
export async function compareTimes(
  { what, rounds, mostRounds = rounds, limit }: Comparison,
  ours: (round: number) => Promise<number>,
  theirs: (round: number) => Promise<number>,
): Promise<Row> {
  const ourTimes: number[] = []
  const theirTimes: number[] = []
  let spent = 0
  for (let round = 0; round <= mostRounds; round++) {
    const one = await ours(round)
    const other = await theirs(round)
    if (round === 0 && rounds > 1) continue
    ourTimes.push(one)
    theirTimes.push(other)
    spent += one + other
    if (round >= rounds && spent > steadyAfter) break
  }
  return ratioRow(what, ourTimes, theirTimes, limit)
}

export interface BlockComparison {
  readonly what: string
  /** Rounds that each side may be asked for at most: the question may differ from one to the next. */
  readonly mostRounds: number
  readonly limit?: number | undefined
}

/** Calls of one side before it is the other's turn. */
export const blockSize = 8
const fewestBlocks = 5

/**
 * Both ways in blocks by turns: a server is asked all day, and one that answers right after another program finds the
 * caches of the processor full of that. Of each block of either side the first call is set aside; those make the figure
 * by turns.
 */
export async function compareBlocks(
  { what, mostRounds, limit }: BlockComparison,
  ours: (rounds: readonly number[]) => Promise<readonly number[]>,
  theirs: (rounds: readonly number[]) => Promise<readonly number[]>,
): Promise<Row> {
  const warm = { ours: [] as number[], theirs: [] as number[] }
  const firsts = { ours: [] as number[], theirs: [] as number[] }
  const start = performance.now()
  for (let from = 0; from + blockSize <= mostRounds; from += blockSize) {
    const rounds = Array.from({ length: blockSize }, (_, i) => from + i)
    const [one = Number.NaN, ...ones] = await ours(rounds)
    const [other = Number.NaN, ...others] = await theirs(rounds)
    warm.ours.push(...ones)
    warm.theirs.push(...others)
    firsts.ours.push(one)
    firsts.theirs.push(other)
    const enough = firsts.ours.length >= fewestBlocks
    if (enough && performance.now() - start > steadyAfter) break
  }
  const byTurns = ratioRow(what, firsts.ours, firsts.theirs)
  return { ...ratioRow(what, warm.ours, warm.theirs, limit), byTurns }
}

/** The medians of both sides, and what one is to the other. */
export function ratioRow(
  what: string,
  ourTimes: readonly number[],
  theirTimes: readonly number[],
  limit?: number,
): Row {
  const [one, other] = [median(ourTimes), median(theirTimes)]
  return { what, ours: shown(one), theirs: shown(other), value: one / other, unit: 'x', limit }
}

function shown(time: number): string {
  if (time < 10) return `${time.toFixed(2)} ms`
  return `${time.toFixed(time < 100 ? 1 : 0)} ms`
}

/** The table as people read it. */
export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.what,
    row.ours,
    row.theirs,
    formatResult(row),
    row.limit === undefined ? '' : `${row.atLeast ? '≥' : '≤'} ${row.limit}`,
    row.limit === undefined ? '' : isMet(row) ? 'ok' : 'MISSED',
    row.byTurns ? `${row.byTurns.value.toFixed(2)} (${row.byTurns.ours})` : '',
  ])
  const all = [['what', 'Gitstead', 'git', 'result', 'target', '', 'by turns'], ...cells]
  const widths = all[0]?.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0))) ?? []
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
  return all.map((row) => line(row).join('  ').trimEnd()).join('\n')
}

export function formatResult({ unit, value }: Row): string {
  return unit === 'x' ? value.toFixed(2) : `${shortly(value)} ${unit}`
}

function shortly(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value))
}

export function isMet(row: Row): boolean {
  if (row.limit === undefined) return true
  return row.atLeast ? row.value >= row.limit : row.value <= row.limit
}
