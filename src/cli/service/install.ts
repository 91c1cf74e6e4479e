import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeFolder } from '../../base/make-folder.ts'
import { reasonOf, StartError } from '../../base/start-error.ts'
import { leastFreePort, serviceUnit, type UnitFacts } from './unit.ts'

const run = promisify(execFile)

export interface ServiceOptions {
  readonly user: string
  readonly data: string
  /** Where units of the machine lie. */
  readonly units: string
  /** The file of settings, made when it is not there. */
  readonly settings: string
  readonly port: number
  /** What the file of settings begins with, by the name of the setting. */
  readonly given: Readonly<Record<string, string>>
  readonly writes: readonly string[]
  /** Whether this machine is run by systemd. */
  readonly hasSystemd: boolean
}

export interface Installed {
  readonly unit: string
  readonly settings: string
  readonly started: boolean
  /** What was made, and what is left to do. */
  readonly lines: readonly string[]
}

const program = fileURLToPath(new URL('../../../scripts/gitstead', import.meta.url))

export function unitFacts(options: ServiceOptions): UnitFacts {
  const { user, data, settings, port, writes } = options
  const isPortLow = port > 0 && port < leastFreePort
  return { program, nodeFolder: dirname(process.execPath), user, data, settings, isPortLow, writes }
}

/** Makes user, data folder, file of settings and unit, those that are not there; the unit is written anew, and started. */
export async function installService(options: ServiceOptions): Promise<Installed> {
  if (process.geteuid?.() !== 0) {
    throw new StartError('a service is installed by root: run this with sudo, or take --print')
  }
  const lines: string[] = []
  const owner = await ensureUser(options.user, options.data, lines)
  await ensureData(options.data, owner, lines)
  await ensureSettings(options, owner, lines)
  const unit = join(options.units, 'gitstead.service')
  await mkdir(options.units, { recursive: true })
  await writeFile(unit, serviceUnit(unitFacts(options)), { mode: 0o644 })
  lines.push(`the unit is ${unit}`)
  if (!options.hasSystemd) {
    lines.push('systemd does not run here: the unit is written, and nothing is started')
    return { unit, settings: options.settings, started: false, lines }
  }
  await systemctl('daemon-reload')
  await systemctl('enable', 'gitstead.service')
  // One that runs already gets what was written.
  await systemctl('restart', 'gitstead.service')
  lines.push('it is started now and with the machine: systemctl status gitstead')
  return { unit, settings: options.settings, started: true, lines }
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

async function ensureUser(name: string, data: string, lines: string[]): Promise<Owner> {
  const known = await findUser(name)
  if (known !== undefined) return known
  const flags = ['--system', '--user-group', '--no-create-home', '--home-dir', data]
  await run('useradd', [...flags, '--shell', '/usr/sbin/nologin', name]).catch((error: unknown) => {
    throw new StartError(`the user ${name} cannot be made (${reasonOf(error)})`)
  })
  const made = await findUser(name)
  if (made === undefined) throw new StartError(`the user ${name} was made and is not there`)
  lines.push(`the user ${name} was made`)
  return made
}

async function findUser(name: string): Promise<Owner | undefined> {
  try {
    const { stdout: uid } = await run('id', ['-u', name])
    const { stdout: gid } = await run('id', ['-g', name])
    return { uid: Number(uid), gid: Number(gid) }
  } catch {
    return undefined
  }
}

async function ensureData(folder: string, owner: Owner, lines: string[]): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found !== undefined) {
    if (found.uid === owner.uid) return
    throw new StartError(
      `the data folder ${folder} is somebody else's (user ${found.uid}): chown -R it to the user of the service, or take --user`,
    )
  }
  makeFolder(folder)
  await chown(folder, owner.uid, owner.gid)
  lines.push(`the data folder ${folder} was made`)
}

/** Puts what was given into the file of settings; other lines stay as they are. */
async function ensureSettings(
  { settings, given }: ServiceOptions,
  owner: Owner,
  lines: string[],
): Promise<void> {
  const before = await readFile(settings, 'utf8').catch(() => undefined)
  const head = before ?? '# Settings of Gitstead, one NAME=value a line: docs/configuration.md\n'
  const text = Object.entries(given).reduce(withSetting, head)
  if (text === before) return
  await mkdir(dirname(settings), { recursive: true })
  await writeFile(settings, text, { mode: 0o640 })
  // It may hold passwords.
  await chmod(settings, 0o640)
  await chown(settings, 0, owner.gid)
  lines.push(`settings are in ${settings}`)
}

function withSetting(text: string, [name, value]: readonly [string, string]): string {
  const line = `${name}=${value}`
  const lines = text.replace(/\n$/, '').split('\n')
  const at = lines.findIndex((one) => one.startsWith(`${name}=`))
  const whole = at < 0 ? [...lines, line] : lines.with(at, line)
  return `${whole.join('\n')}\n`
}

/** The settings that a file of `NAME=value` lines holds, as systemd reads it. */
export async function readSettingsFile(path: string): Promise<Record<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const found = text.matchAll(/^\s*([A-Z_\d]+)=(?:"(.*)"|'(.*)'|(.*?))\s*$/gm)
  return Object.fromEntries([...found].map(([, name, a, b, c]) => [name, a ?? b ?? c ?? '']))
}

async function systemctl(...words: readonly string[]): Promise<void> {
  await run('systemctl', words).catch((error: unknown) => {
    throw new StartError(`systemctl ${words.join(' ')} failed (${reasonOf(error)})`)
  })
}
