import { writeFileSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mountSmallDisk, type SmallDisk } from '../disk/small-disk.ts'
import { keepWriting, makeWriters } from '../kills/round.ts'
import type { Writer } from '../kills/writer.ts'
import { checkRepositories } from '../place/inspect.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { type Random, randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { type Command, type Ended, startCommand } from './command.ts'

/** How long a server that was killed may take to answer again. */
const START_MS = 120_000
/** A backup of this little takes seconds; the machine may be busy with other things. */
const LONGEST_MS = 600_000
/** Every backup is restored after so many cases; the newest is verified after each. */
const RESTORED_EVERY = 10
const DISK_MB = 128

type Fault = 'nothing' | 'backup' | 'server' | 'stop' | 'disk'

/** SIGKILL of a backup or its server, or a full disk, at random moments, while everybody writes. */
export const backupRound: Round = {
  name: 'backup',
  summary: 'SIGKILL of backups and of their server, and full disks, under pushes and uploads',
  unit: 'backups',
  usual: { count: 40, seconds: 0 },
  async run(options, report) {
    const server = await startServer(options.folder, { restart: true })
    const disk = mountSmallDisk(join(options.folder, 'disk'), DISK_MB)
    writeFileSync(passphraseOf(options.folder), 'correct horse battery\n')
    const place = { server, disk, folder: options.folder, backups: join(options.folder, 'disk/b') }
    try {
      await backUpAll(place, options, report)
    } finally {
      await server.stop()
      disk?.unmount()
    }
    const faults = await checkRepositories(server.data)
    for (const fault of faults) report.fail({ what: `fsck: ${fault}` })
    report.figure({ name: 'damaged repositories', value: faults.length, unit: '', atMost: 0 })
  },
}

type Fail = (what: string, kind?: string) => void

async function backUpAll(place: Place, options: RoundOptions, report: Report): Promise<void> {
  const writers = await makeWriters(place.server, options)
  const took = await measureOne(place)
  const outcomes: Record<string, number> = {}
  const end = options.from + options.count
  for (let at = options.from; at < end; at += 1) {
    const again = `--round backup --seed ${options.seed} --from ${at} --count 2`
    const fail: Fail = (what, kind = what) => report.fail({ what, kind, again })
    const random = randomOf(options.seed, at)
    const fault = faultOf(random, place.disk)
    const writing = keepWriting(writers)
    const ended = await backUp(place, random, fault, took)
    await writing.stop()
    await place.disk?.free()
    const outcome = `${fault}: ${ended.code === 0 ? 'made' : 'none'}`
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    if (fault === 'nothing' && ended.code !== 0) fail(`no backup: ${ended.said}`, 'no backup')
    if (!(await place.server.answers(START_MS))) return fail('the server does not answer any more')
    await checkWriters(writers, fault, fail)
    const isLast = at === end - 1
    await checkBackups(place, isLast || at % RESTORED_EVERY === RESTORED_EVERY - 1, fail)
    const made = at + 1 - options.from
    if (made % RESTORED_EVERY === 0) report.say(`${made} backups`)
  }
  for (const [name, value] of Object.entries(outcomes)) {
    report.figure({ name, value, unit: 'times' })
  }
}

/** How long a backup takes that nobody disturbs. */
async function measureOne(place: Place): Promise<number> {
  const started = performance.now()
  const { code, said } = await startBackup(place, []).ended(LONGEST_MS)
  if (code !== 0) throw new Error(`no backup: ${said}`)
  return performance.now() - started
}

async function checkWriters(writers: readonly Writer[], fault: Fault, fail: Fail): Promise<void> {
  for (const writer of writers) {
    for (const lost of await writer.check()) fail(`${fault}: ${lost}`, `lost: ${writer.name}`)
  }
}

interface Place {
  readonly server: TortureServer
  readonly disk: SmallDisk | undefined
  readonly folder: string
  readonly backups: string
}

function passphraseOf(folder: string): string {
  return join(folder, 'passphrase')
}

function faultOf(random: Random, disk: SmallDisk | undefined): Fault {
  const faults: Fault[] = ['nothing', 'backup', 'backup', 'backup', 'server', 'stop']
  return random.pick(disk ? [...faults, 'disk'] : faults)
}

/** Makes a backup, and does something to it at some moment of the time that one takes. */
async function backUp(place: Place, random: Random, fault: Fault, took: number): Promise<Ended> {
  const { server, disk } = place
  if (fault === 'disk') await disk?.fill(random.integer(0, 400_000))
  const command = startBackup(place, random.percent(70) ? ['--incremental'] : [])
  await sleep(random.integer(0, Math.round(took)))
  strike(fault, command, server)
  return await command.ended(LONGEST_MS)
}

function startBackup({ server, folder, backups }: Place, more: readonly string[]): Command {
  const words = ['backup', 'create', '--to', backups, '--data', server.data, '--keep', '3']
  return startCommand([...words, '--passphrase-file', passphraseOf(folder), ...more])
}

function strike(fault: Fault, command: Command, server: TortureServer): void {
  const pid = server.mainPid()
  try {
    if (fault === 'backup') command.kill('SIGKILL')
    else if (fault === 'stop') command.kill('SIGINT')
    else if (fault === 'server' && pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in this moment.
  }
}

/** Whatever is listed must be whole; now and then it is restored, and must be well there. */
async function checkBackups(
  { folder, backups }: Place,
  restore: boolean,
  fail: Fail,
): Promise<void> {
  const names = await readdir(join(backups, 'backups')).catch(() => [])
  if (names.length === 0) return
  const file = ['--passphrase-file', passphraseOf(folder)]
  const all = restore ? ['--all'] : []
  const verified = await startCommand([
    'backup',
    'verify',
    '--from',
    backups,
    ...file,
    ...all,
  ]).ended(LONGEST_MS)
  if (verified.code !== 0) fail(`a backup is not whole: ${verified.said}`, 'a backup is not whole')
  if (!restore) return
  const data = join(folder, 'restored')
  await mkdir(data)
  const words = ['backup', 'restore', '--from', backups, '--data', data]
  const restored = await startCommand([...words, ...file]).ended(LONGEST_MS)
  if (restored.code !== 0) fail(`not restored: ${restored.said}`, 'not restored')
  else for (const fault of await checkRepositories(data)) fail(`restored: ${fault}`, 'restored')
  await rm(data, { recursive: true, force: true })
}
