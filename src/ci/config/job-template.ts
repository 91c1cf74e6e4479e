import { betweenSlashes, isTooLarge } from '../../base/patterns/pattern.ts'
import { secondsOf } from './duration.ts'
import { configFault, keyFault } from './fault.ts'
import { JOB_KEYS, NOT_OF_BRIDGES, OPTION_KEYS, WHEN, type When } from './job-keys.ts'
import { assertShapes } from './keyword-shapes.ts'
import { type ForeignNeed, type Need, readNeeds } from './needs.ts'
import { assertPolicy } from './only.ts'
import { type Rule, readRules } from './rules.ts'
import { isMap, type Value, type ValueMap } from './values.ts'
import { readVariables, type YamlVariable } from './variables.ts'

/** A job as the configuration describes it, before anybody asked whether it is part of a pipeline. */
export interface JobTemplate {
  readonly name: string
  readonly kind: 'build' | 'bridge'
  readonly stage: string
  readonly when: When
  /** Seconds to wait, for `delayed`. */
  readonly startIn: number | undefined
  /** Undefined: manual jobs may fail, others not. */
  readonly allowFailure: boolean | undefined
  readonly tags: readonly string[]
  /** What the runner gets, and what comes after the job, as the configuration says it. */
  readonly options: ValueMap
  readonly variables: readonly YamlVariable[]
  /** Which global variables the job has. */
  readonly inherits: boolean | ReadonlySet<string>
  readonly rules: readonly Rule[] | undefined
  readonly only: Value
  readonly except: Value
  readonly needs: readonly Need[] | undefined
  readonly environment: Value
  readonly resourceGroup: string | undefined
  readonly interruptible: boolean
  readonly coverage: string | undefined
  readonly timeout: number | undefined
  readonly parallel: Value
}

/** Reads one job, defaults already in it; refuses what a job cannot be, in the reference's words. */
export function readJob(name: string, job: ValueMap): JobTemplate {
  const where = `jobs:${name}`
  assertKeys(where, job)
  const isBridge = job.trigger !== undefined
  if (job.script === undefined && job.run === undefined && !isBridge) {
    throw configFault(`${where} config should implement the script:, run:, or trigger: keyword`)
  }
  for (const key of ['script', 'before_script', 'after_script']) assertScript(where, key, job[key])
  const variables = readVariables(job.variables)
  if (!variables) throw configFault(`${where}:variables config should be a hash of key value pairs`)
  assertPolicy(job.only, `${where}:only`)
  assertPolicy(job.except, `${where}:except`)
  const { needs, foreign } = readNeeds(`${where}:needs`, job.needs)
  return {
    name,
    kind: isBridge ? 'bridge' : 'build',
    stage: readText(where, 'stage', job.stage) ?? 'test',
    ...readWhen(where, job),
    allowFailure: readAllowFailure(where, job.allow_failure),
    tags: readTags(where, job.tags),
    options: optionsOf(job, foreign),
    variables,
    inherits: inheritedVariables(job.inherit),
    rules: job.rules === undefined ? undefined : readRules(job.rules, `${where}:rules`, 'job'),
    only: job.only,
    except: job.except,
    needs,
    environment: readEnvironment(where, job.environment),
    resourceGroup: readText(where, 'resource_group', job.resource_group),
    interruptible: job.interruptible === true,
    coverage: readCoverage(where, job.coverage),
    timeout: readTimeout(where, job.timeout),
    parallel: job.parallel,
  }
}

function assertKeys(where: string, job: ValueMap): void {
  const isBridge = job.trigger !== undefined
  const unknown = Object.keys(job).filter(
    (key) => !JOB_KEYS.has(key) || (isBridge && NOT_OF_BRIDGES.has(key)),
  )
  const [first] = unknown
  if (first !== undefined) {
    const path = [where.replace(/^jobs:/, ''), first]
    throw keyFault(path, `${where} config contains unknown keys: ${unknown.join(', ')}`)
  }
  assertShapes(where, job)
  if (job.rules === undefined) return
  const both = ['only', 'except'].filter((key) => job[key] !== undefined)
  if (both.length > 0) {
    throw configFault(`${where} config key may not be used with \`rules\`: ${both.join(', ')}`)
  }
}

function assertScript(where: string, key: string, value: Value): void {
  if (value === undefined || value === null || typeof value === 'string') return
  const lines: readonly unknown[] | undefined = Array.isArray(value) ? value.flat(10) : undefined
  const isText = lines?.every((line) => typeof line === 'string')
  if (isText && (key !== 'script' || lines?.length)) return
  throw configFault(
    `${where}:${key} config should be a string or a nested array of strings up to 10 levels deep`,
  )
}

function readText(where: string, key: string, value: Value): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw configFault(`${where} ${key} should be a string`)
}

function readWhen(
  where: string,
  job: ValueMap,
): { readonly when: When; readonly startIn: number | undefined } {
  const given = job.when ?? 'on_success'
  const allowed = WHEN.filter((word) => word !== 'never')
  const when = allowed.find((word) => word === given)
  if (!when) throw configFault(`${where} when should be one of: ${allowed.join(', ')}`)
  const startIn = secondsOf(job.start_in)
  if (when === 'delayed' && startIn === undefined) {
    throw configFault(`${where} start in should be a duration`)
  }
  if (when !== 'delayed' && job.start_in !== undefined && job.start_in !== null) {
    throw configFault(`${where} start in must be blank`)
  }
  return { when, startIn: when === 'delayed' ? startIn : undefined }
}

function readAllowFailure(where: string, value: Value): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  // With exit codes the job's end decides; until then it counts as one that must not fail.
  if (isMap(value) && isExitCodes(value.exit_codes)) return false
  throw configFault(`${where} allow failure should be a boolean value or a hash`)
}

function isExitCodes(value: Value): boolean {
  const codes: readonly unknown[] = Array.isArray(value) ? value : [value]
  return codes.length > 0 && codes.every((code) => Number.isInteger(code))
}

const MOST_TAGS = 50

function readTags(where: string, value: Value): string[] {
  if (value === undefined || value === null) return []
  const tags: readonly unknown[] = Array.isArray(value) ? value.flat(10) : [value]
  if (tags.length > MOST_TAGS) {
    throw configFault(`${where}:tags config must be less than the limit of ${MOST_TAGS} tags`)
  }
  if (tags.every((tag): tag is string => typeof tag === 'string')) return [...new Set(tags)]
  throw configFault(`${where}:tags config should be an array of strings`)
}

function optionsOf(job: ValueMap, foreign: readonly ForeignNeed[]): ValueMap {
  const kept = OPTION_KEYS.filter((key) => job[key] !== undefined && job[key] !== null)
  const options: Record<string, Value> = Object.fromEntries(kept.map((key) => [key, job[key]]))
  for (const key of ['script', 'before_script', 'after_script']) {
    if (key in options) options[key] = [options[key]].flat(10)
  }
  if (isMap(job.allow_failure)) options.allow_failure_criteria = job.allow_failure
  if (foreign.length > 0) options.foreign_needs = foreign
  return options
}

function inheritedVariables(inherit: Value): boolean | ReadonlySet<string> {
  const given = isMap(inherit) ? inherit.variables : undefined
  if (Array.isArray(given)) return new Set(given.filter((name) => typeof name === 'string'))
  return given !== false
}

const ACTIONS = ['start', 'prepare', 'stop', 'verify', 'access']

function readEnvironment(where: string, value: Value): Value {
  if (value === undefined || typeof value === 'string') return value
  if (isMap(value) && typeof value.name === 'string') {
    if (value.action === undefined || ACTIONS.some((one) => one === value.action)) return value
    throw configFault(`${where}:environment action should be ${ACTIONS.join(', ')}`)
  }
  throw configFault(`${where}:environment config should be a hash or a string`)
}

function readCoverage(where: string, value: Value): string | undefined {
  if (value === undefined || value === null) return undefined
  const pattern = typeof value === 'string' ? betweenSlashes(value) : undefined
  if (typeof value !== 'string' || pattern === undefined) {
    throw configFault(`${where}:coverage config must be a regular expression`)
  }
  if (isTooLarge(pattern)) throw configFault(`${where}:coverage regular expression is too large`)
  return value
}

function readTimeout(where: string, value: Value): number | undefined {
  if (value === undefined || value === null) return undefined
  const seconds = secondsOf(value)
  if (seconds === undefined) throw configFault(`${where} timeout should be a duration`)
  return seconds
}
