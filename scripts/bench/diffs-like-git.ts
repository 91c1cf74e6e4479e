// Compares the changes of the newest commits of a repository with the git program, and says how long both take:
// `node --import tsx scripts/bench/diffs-like-git.ts <repository> 1000`. With a third number it then makes so many diffs
// and says how much memory they leave behind: `… <repository> 200 50000`.
import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { diffTrees } from '../../src/git/diff/diff.ts'
import { nativeDiff } from '../../src/git/diff/native-diff.ts'
import { OpenRepository } from '../../src/git/engine/open-repository.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

const [path = '', count = '1000', repeats = '0'] = process.argv.slice(2)
const listed = spawnSync(
  'git',
  ['-C', path, 'rev-list', '--parents', '--min-parents=1', '-n', count, 'HEAD'],
  { encoding: 'utf8', maxBuffer: 1 << 28 },
)
const pairs = listed.stdout
  .split('\n')
  .filter(Boolean)
  .map((line) => line.split(' '))
const repository = new OpenRepository(path)
const { signal } = new AbortController()
const limits = { expanded: true }
const times: Record<'libgit2' | 'git', number[]> = { libgit2: [], git: [] }
const different: string[] = []
let left = 0

async function timed<Value>(what: keyof typeof times, work: () => Promise<Value>): Promise<Value> {
  const start = performance.now()
  const value = await work()
  times[what].push(performance.now() - start)
  return value
}

for (const [to = '', from = ''] of pairs) {
  if ((await nativeDiff(repository, from, to, 0)) === undefined) {
    left += 1
    continue
  }
  const ours = await timed('libgit2', () => diffTrees(repository, { from, to, limits }, signal))
  const judge = await timed('git', () =>
    // Only git looks into other repositories.
    diffTrees(repository, { from, to, limits, alternate: path }, signal),
  )
  if (JSON.stringify(ours) !== JSON.stringify(judge)) different.push(to)
}
const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]?.toFixed(2)
console.log(`${pairs.length} commits, ${left} left to git, ${different.length} different`)
for (const id of different) console.log(`different: ${id}`)
console.log(`middle: libgit2 ${median(times.libgit2)} ms, git ${median(times.git)} ms`)

const megabytes = () => Math.round(process.memoryUsage.rss() / 1e6)
let before = 0
for (let at = 0; at < Number(repeats); at += 1) {
  const [to = '', from = ''] = pairs[at % pairs.length] ?? []
  await nativeDiff(repository, from, to, 200 * 1024)
  // As engine processes do.
  if (at % 100 === 99) collect({ type: 'minor' })
  if (at === Math.floor(Number(repeats) / 2)) before = megabytes()
}
if (Number(repeats) > 0) {
  console.log(`memory: ${before} MB after half of ${repeats}, ${megabytes()} MB after all`)
}
process.exitCode = different.length > 0 ? 1 : 0
