import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { Setting } from './setting.ts'
import { settings } from './settings.ts'
import { StartError } from './start-error.ts'
import { type Vendor, vendorWords } from './vendor.ts'

type Settings = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

export interface Config extends Omit<Settings, 'externalUrl'> {
  /** Without a slash at its end. */
  readonly externalUrl: string
  readonly vendor: Vendor
}

/** Everything but what is named has its default; for tests, and for a caller that computed a value. */
export function makeConfig(given: Partial<Settings> = {}): Config {
  const defaults = Object.fromEntries(
    Object.entries(settings).map(([key, one]) => [key, one.fallback]),
  ) as unknown as Settings
  const config = { ...defaults, ...given }
  return {
    ...config,
    data: resolve(config.data),
    externalUrl: config.externalUrl ?? localUrl(config.host, config.port),
    vendor: vendorWords(config.vendorPrefix),
  }
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
  return makeConfig(read as Partial<Settings>)
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
  const isLocal = config.externalUrl === localUrl(config.host, config.port)
  return { ...config, port, ...(isLocal ? { externalUrl: localUrl(config.host, port) } : {}) }
}

function localUrl(host: string, port: number): string {
  const any = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${any.includes(':') ? `[${any}]` : any}:${port}`
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
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new StartError(`the configuration file ${path} cannot be read (${reason})`)
  }
  throw new StartError(`the configuration file ${path} must hold one JSON object`)
}
