import { readFileSync } from 'node:fs'
import { askCheaply, askWhole, type Project } from './api.ts'
import { git, milliseconds, percentile, type Row } from './measure.ts'
import { childrenOf, memoryOf, memoryOfAll } from './server.ts'

const users = 50
const mebibyte = 1024 * 1024

/** Fifty clients that ask for everything at once, and what is left in memory afterwards. */
export async function* benchLoad(project: Project): AsyncGenerator<Row> {
  const { light, heavy } = await mixOf(project)
  // Each question once, then all at once, as a server has answered them all day: every process runs, its code translated.
  for (const path of [...light, ...heavy]) await askWhole(project, path)
  await crowd(project, light, heavy, 3000)
  const delay = project.server.watchLoop()
  const times = await crowd(project, light, heavy, 3000)
  const { p99 } = await delay()
  yield row('light request among 50, median', percentile(times, 0.5), 'ms', 5)
  yield row('light request among 50, slowest of a hundred', percentile(times, 0.99), 'ms', 50)
  yield row('event loop of the main process, slowest of a hundred', p99, 'ms', 25)
  await crowd(project, light, heavy, 4000)
  const half = memoryOfAll(project.server.pid)
  await crowd(project, light, heavy, 10_000)
  yield row('main process after 20,000', memoryOf(project.server.pid) / mebibyte, 'MB', 150)
  yield row('all processes after 20,000', memoryOfAll(project.server.pid) / mebibyte, 'MB', 600)
  yield row(
    'growth over the last half',
    (memoryOfAll(project.server.pid) - half) / mebibyte,
    'MB',
    60,
  )
  yield await killed(project, light, heavy)
}

/** A read is asked once more of another process; that one is given the time for its answer. */
const secondsToKill = 4

/** Reads are asked again of another process: nobody notices one that died. */
async function killed(
  project: Project,
  light: readonly string[],
  heavy: readonly string[],
): Promise<Row> {
  let lost = 0
  let kills = 0
  const timer = setInterval(() => {
    const [engine] = childrenOf(project.server.pid).filter(isEngine)
    if (engine === undefined) return
    process.kill(engine, 'SIGSEGV')
    kills += 1
  }, secondsToKill * 1000)
  await crowd(project, light, heavy, 3000, () => {
    lost += 1
  })
  clearInterval(timer)
  return {
    what: `requests lost, an engine process killed ${kills} times among 50`,
    ours: `${lost} of 3000`,
    theirs: '',
    value: lost,
    unit: 'count',
    limit: 0,
  }
}

function isEngine(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('service/process')
}

function row(what: string, value: number, unit: 'ms' | 'MB', limit: number): Row {
  return { what, ours: `${value.toFixed(1)} ${unit}`, theirs: '', value, unit, limit }
}

export async function mixOf({ stored }: Project): Promise<{ light: string[]; heavy: string[] }> {
  const lines = async (...args: string[]) => (await git(stored, args)).split('\n').filter(Boolean)
  const every = <Item>(items: readonly Item[], count: number) =>
    items.filter((_, i) => i % Math.max(1, Math.floor(items.length / count)) === 0)
  const commits = every(await lines('rev-list', '-3000', 'HEAD'), 60)
  const files = every(await lines('ls-tree', '-r', 'HEAD'), 60)
  const names = files.map((line) => encodeURIComponent(line.split('\t')[1] ?? ''))
  const blobs = files.map((line) => line.split(/\s/)[2] ?? '')
  return {
    light: [
      ...commits.map((id) => `commits?ref_name=${id}`),
      ...commits.map((id) => `tree?ref=${id}`),
      ...commits.map((id) => `commits/${id}?stats=false`),
      ...blobs.map((id) => `blobs/${id}/raw`),
      'branches',
    ],
    heavy: [
      ...names.map((name) => `commits?path=${name}`),
      ...commits.slice(0, 10).map((id) => `tree?recursive=true&per_page=100&ref=${id}`),
      ...commits.slice(0, 10).map((id) => `merge_base?refs[]=HEAD&refs[]=${id}`),
    ],
  }
}

/** Times of the light requests, while every tenth is a heavy one. */
async function crowd(
  project: Project,
  light: readonly string[],
  heavy: readonly string[],
  requests: number,
  onFailure?: () => void,
): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const client = async () => {
    while (next < requests) {
      const number = next
      next += 1
      const isHeavy = number % 10 === 9
      const list = isHeavy ? heavy : light
      // Steps of a prime spread the questions over the list.
      const path = list[(number * 7) % list.length] ?? ''
      const asked = () => askCheaply(project, path)
      const time = await milliseconds(onFailure ? () => asked().catch(onFailure) : asked)
      if (!isHeavy) times.push(time)
    }
  }
  await Promise.all(Array.from({ length: users }, client))
  return times
}
