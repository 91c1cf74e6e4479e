import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { Setting } from './setting.ts'
import { settings } from './settings.ts'
import { reasonOf, StartError } from './start-error.ts'
import { type Vendor, vendorWords } from './vendor.ts'

type Settings = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

/** Where git over SSH is listened for unless a setting says otherwise. */
const DEFAULT_SSH_PORT = 2222

/** What stands in the SSH addresses of repositories. */
export interface SshAddress {
  readonly host: string
  readonly port: number
  /** Whether anybody answers there. */
  readonly isOffered: boolean
}

export interface Config extends Omit<Settings, 'externalUrl' | 'sshPort'> {
  readonly sshPort: number
  /** Whether somebody said so. */
  readonly isSshPortGiven: boolean
  readonly ssh: SshAddress
  /** Without a slash at its end. */
  readonly externalUrl: string
  /** Whether somebody said so; otherwise it is made of host and port. */
  readonly isExternalUrlGiven: boolean
  readonly vendor: Vendor
}

/**
 * Everything but what is named has its default; for tests, and for a caller that computed a value. Git over SSH is off there
 * unless it is named: several servers share a machine.
 */
export function makeConfig(given: Partial<Settings> = {}): Config {
  const defaults = Object.fromEntries(
    Object.entries(settings).map(([key, one]) => [key, one.fallback]),
  ) as unknown as Settings
  const config = { ...defaults, ...given }
  const externalUrl = config.externalUrl ?? defaultUrl(config)
  return withSshPort(
    {
      ...config,
      data: resolve(config.data),
      externalUrl,
      isExternalUrlGiven: config.externalUrl !== undefined,
      isSshPortGiven: config.sshPort !== undefined,
      vendor: vendorWords(config.vendorPrefix),
    },
    config.sshPort ?? 0,
  )
}

/** The configuration with the port on which git over SSH is listened for; 0 for none. */
export function withSshPort(config: Omit<Config, 'sshPort' | 'ssh'>, sshPort: number): Config {
  const { externalUrl, sshExternalHost, sshExternalPort } = config
  const ssh = {
    host: sshExternalHost ?? new URL(externalUrl).hostname,
    // Where we do not listen, it is the system's sshd that may answer.
    port: sshExternalPort ?? (sshPort === 0 ? 22 : sshPort),
    isOffered: sshPort !== 0 || sshExternalPort !== undefined,
  }
  return { ...config, sshPort, ssh }
}

/** The SSH address of a repository, such as `git@host:group/project.git`; another port than 22 needs the longer form. */
export function sshUrl({ ssh: { host, port } }: Pick<Config, 'ssh'>, path: string): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return port === 22 ? `git@${name}:${path}` : `ssh://git@${name}:${port}/${path}`
}

/**
 * Reads the environment, and the JSON file that `GITSTEAD_CONFIG` names or `gitstead.json` in the data folder; the
 * environment wins. A wrong value throws a StartError of one line that names it.
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const { path, values: file } = readFile(environment)
  const read: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries<Setting<unknown>>(settings)) {
    const name = environmentName(key)
    const own = environment[name]
    const inFile = file[fileName(key)]
    if (own !== undefined && own !== '') read[key] = parse(name, own, setting)
    else if (inFile !== undefined) {
      read[key] = parse(`${fileName(key)} in ${path}`, inFile, setting)
    }
  }
  // Each value came out of the parser of its own key.
  const config = makeConfig(read as Partial<Settings>)
  return config.isSshPortGiven ? config : withSshPort(config, DEFAULT_SSH_PORT)
}

/** The table of settings in docs/configuration.md. */
export function configTable(): string {
  const rows = Object.entries<Setting<unknown>>(settings).map(
    ([key, { shown, doc }]) =>
      `| \`${environmentName(key)}\` | \`${fileName(key)}\` | ${shown && `\`${shown}\``} | ${doc} |`,
  )
  return ['| Environment | File | Default | What it does |', '|---|---|---|---|', ...rows].join(
    '\n',
  )
}

/** `GITSTEAD_EXTERNAL_URL` of `externalUrl`. */
export function environmentName(key: string): string {
  return `GITSTEAD_${fileName(key).toUpperCase()}`
}

function fileName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The configuration with the port that will be listened on, when a free one was taken: links carry it. */
export function withPort(config: Config, port: number): Config {
  if (config.isExternalUrlGiven) return { ...config, port }
  const moved = { ...config, port, externalUrl: defaultUrl({ ...config, port }) }
  return withSshPort(moved, config.sshPort)
}

/** The URL of an address, which an IPv6 one goes into between brackets. */
export function addressUrl(host: string, port: number, scheme = 'http'): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Whether a host means all addresses of the machine, however it is written: `::`, `0.0.0.0`, `0`. */
export function isAnyAddress(host: string): boolean {
  const url = addressUrl(host, 1)
  return URL.canParse(url) && ['0.0.0.0', '[::]'].includes(new URL(url).hostname)
}

/** What the server speaks by itself; a proxy before it may speak TLS for it. */
export function schemeOf({ tlsCert }: { readonly tlsCert?: string | undefined }): 'http' | 'https' {
  return tlsCert === undefined ? 'http' : 'https'
}

function defaultUrl(config: Pick<Config, 'host' | 'port' | 'tlsCert'>): string {
  const host = isAnyAddress(config.host) ? 'localhost' : config.host
  return addressUrl(host, config.port, schemeOf(config))
}

/** What a value is in the file, as the text that it is in the environment. */
const written = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string())], {
    error: 'expected a text, a number, a flag or a list',
  })
  .transform((value) => String(value).trim())

function parse(name: string, value: unknown, setting: Setting<unknown>): unknown {
  const text = written.safeParse(value)
  const read = text.success ? setting.schema.safeParse(text.data) : text
  if (read.success) return read.data
  const given = setting.secret || !text.success ? '' : `: ${JSON.stringify(text.data)}`
  throw new StartError(`${name} is wrong${given} (${read.error.issues[0]?.message})`)
}

interface ConfigFile {
  readonly path: string
  readonly values: Readonly<Record<string, unknown>>
}

function readFile(environment: Readonly<Record<string, string | undefined>>): ConfigFile {
  const named = environment.GITSTEAD_CONFIG
  const path = named || join(environment.GITSTEAD_DATA || settings.data.fallback, 'gitstead.json')
  if (!named && !existsSync(path)) return { path, values: {} }
  const values = readJson(path)
  const known = new Set(Object.keys(settings).map(fileName))
  const stranger = Object.keys(values).find((key) => !known.has(key))
  if (stranger !== undefined) throw new StartError(`${stranger} in ${path} is no setting`)
  if (!named && 'data' in values) {
    throw new StartError(`data in ${path} would move the folder that holds the file`)
  }
  return { path, values }
}

function readJson(path: string): Record<string, unknown> {
  try {
    const values: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) {
      return { ...values }
    }
  } catch (error) {
    throw new StartError(`the configuration file ${path} cannot be read (${reasonOf(error)})`)
  }
  throw new StartError(`the configuration file ${path} must hold one JSON object`)
}

/** Variables that are no settings of the server, but that its programs read or set. */
const others = [
  'GITSTEAD_CACHE',
  'GITSTEAD_CONFIG',
  'GITSTEAD_ENGINE',
  'GITSTEAD_LAUNCHER',
  'GITSTEAD_RUNNER_BESIDE',
  'GITSTEAD_RUNNER_JOB',
  'GITSTEAD_RUNNER_TOKEN',
  'GITSTEAD_RUNNER_URL',
  'GITSTEAD_TIED',
]
/** So many letters may be wrong. */
const mostWrong = 4

/** What there is in an environment that nobody reads, a line each, with the name that was most likely meant. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = [...Object.keys(settings).map(environmentName), ...others]
  return Object.keys(environment)
    .filter((name) => name.startsWith('GITSTEAD_') && !known.includes(name))
    .sort()
    .map((name) => {
      const near = nearest(name, known)
      return `${name} is no setting and has no effect${near === undefined ? '' : `: did you mean ${near}?`}`
    })
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((one) => ({ one, wrong: distance(name, one) }))
    .sort((a, b) => a.wrong - b.wrong)
  const [best] = ranked
  return best && best.wrong <= mostWrong ? best.one : undefined
}

/** How many letters must be added, taken away or changed to make one of the other (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [column, wanted] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
