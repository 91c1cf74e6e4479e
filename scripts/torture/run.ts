import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { backupRound } from './backups/round.ts'
import { diskRound } from './disk/round.ts'
import { fuzzRound } from './fuzz/round.ts'
import { cutsRound } from './hostile/cuts.ts'
import { floodRound } from './hostile/flood.ts'
import { killsRound } from './kills/round.ts'
import { pipelinesRound } from './pipelines/round.ts'
import { Report } from './report.ts'
import type { Round } from './round.ts'
import { soakRound } from './soak/round.ts'
import { sshRound } from './ssh/round.ts'

const rounds: readonly Round[] = [
  cutsRound,
  floodRound(),
  killsRound,
  backupRound,
  pipelinesRound,
  diskRound,
  fuzzRound,
  soakRound,
  sshRound,
]

const usage = `usage: npm run torture -- [options]

Does to a server of its own, on this machine alone, what strangers, crashes and full disks do.
Each failure is printed with a line that makes it again.

  --round <name>    only this round; may be given again
  --seed <number>   the same number makes the same requests and kills (1)
  --count <number>  how many cases a round has
  --seconds <n>     how long each timed part of a round lasts
  --from <number>   begin with this case
  --only <text>     only operations or kinds whose name holds the text
  --folder <path>   where data and logs go (a new folder of the system's temporary one)
  --keep            keep the folder; it is kept anyhow when something failed
  --help

rounds:
${rounds
  .map(({ name, summary, usual, unit }) => {
    const time = usual.seconds > 0 ? `, ${usual.seconds} s` : ''
    return `  ${name.padEnd(16)}${summary} (${usual.count} ${unit}${time})`
  })
  .join('\n')}`

const { values } = parseArgs({
  options: {
    round: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    count: { type: 'string' },
    seconds: { type: 'string' },
    from: { type: 'string', default: '0' },
    only: { type: 'string' },
    folder: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function run(): Promise<boolean> {
  const wanted = values.round ?? rounds.map(({ name }) => name)
  let failed = false
  for (const name of wanted) {
    const round = rounds.find((one) => one.name === name)
    if (round === undefined) throw new Error(`there is no round ${name}, see --help`)
    const folder = mkdtempSync(join(values.folder ?? tmpdir(), `gitstead-torture-${name}-`))
    const report = new Report((line) => process.stdout.write(`[${name}] ${line}\n`))
    const count = numberOf('count', values.count) ?? round.usual.count
    const seconds = numberOf('seconds', values.seconds) ?? round.usual.seconds
    const seed = numberOf('seed', values.seed) ?? 1
    const from = numberOf('from', values.from) ?? 0
    report.say(`seed ${seed}, ${count} ${round.unit}, folder ${folder}`)
    await round.run({ seed, count, seconds, from, only: values.only, folder }, report)
    report.say(report.failed ? `${report.failures.length} kinds of failures` : 'nothing failed')
    if (report.failed) failed = true
    else if (!values.keep) await rm(folder, { recursive: true, force: true })
  }
  return !failed
}

function numberOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,12}$/.test(value)) throw new Error(`--${name} takes a number`)
  return Number(value)
}

// What a round has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))

if (values.help) process.stdout.write(`${usage}\n`)
else process.exitCode = (await run()) ? 0 : 1
