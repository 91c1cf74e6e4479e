import { secondsOf } from './duration.ts'
import { configFault } from './fault.ts'
import { isMap, type Value, type ValueMap } from './values.ts'

/** What is wrong with a value, as the end of a sentence that begins with its name; undefined when it is as it should be. */
type Check = (value: Value) => string | undefined

const that =
  (fits: (value: Value) => boolean, fault: string): Check =>
  (value) =>
    fits(value) ? undefined : fault

function isText(value: Value): value is string {
  return typeof value === 'string'
}

/** Numbers and booleans are texts to whoever leaves out the quotes. */
function isPlain(value: Value): boolean {
  return isText(value) || typeof value === 'number' || typeof value === 'boolean'
}

/** Known when the job runs, and not before. */
function hasVariable(value: Value): boolean {
  return isText(value) && value.includes('$')
}

function listOf(value: Value): readonly unknown[] {
  return Array.isArray(value) ? value.flat(10) : [value]
}

const text = that((value) => isText(value) && value !== '', 'should be a string')
const plain = that(isPlain, 'should be a string')
const flag = that((value) => typeof value === 'boolean', 'should be a boolean value')
const texts = that((value) => listOf(value).every(isText), 'should be an array of strings')
const wholeNumbers = that(
  (value) => listOf(value).every((one) => Number.isInteger(one)),
  'should be an array of integers',
)
const duration = that(
  (value) =>
    secondsOf(value) !== undefined || hasVariable(value) || /^(never|0)$/i.test(String(value)),
  'should be a duration',
)
const allOrSome = that(
  (value) => typeof value === 'boolean' || listOf(value).every(isText),
  'should be a bool or an array of strings',
)
const anything: Check = () => undefined

function oneOf(...words: readonly string[]): Check {
  const fault = `should be one of: ${words.join(', ')}`
  return that((value) => hasVariable(value) || words.some((word) => word === value), fault)
}

/** A map with these keys at most; those named by `required` must be there. */
function mapOf(keys: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value) => {
    if (!isMap(value)) return 'config should be a hash'
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(keys, key))
    if (unknown.length > 0) return `config contains unknown keys: ${unknown.join(', ')}`
    const missing = required.filter((key) => value[key] === undefined || value[key] === null)
    if (missing.length > 0) return `config missing required keys: ${missing.join(', ')}`
    return firstFault(value, keys)
  }
}

function firstFault(value: ValueMap, keys: Readonly<Record<string, Check>>): string | undefined {
  for (const [key, check] of Object.entries(keys)) {
    const given = value[key]
    const fault = given === undefined || given === null ? undefined : check(given)
    if (fault === undefined) continue
    return fault.startsWith('config') ? `${key} ${fault}` : `${key.replaceAll('_', ' ')} ${fault}`
  }
  return undefined
}

/** A map of this form, or else what the other check says. */
function mapOr(map: Check, other: Check): Check {
  return (value) => (isMap(value) ? map(value) : other(value))
}

/** One, or a list of them. */
function oneOrMore(check: Check, most = Number.POSITIVE_INFINITY): Check {
  return (value) => {
    const list = Array.isArray(value) ? value : [value]
    if (list.length > most) return `config is too long (maximum is ${most})`
    return list.map(check).find((fault) => fault !== undefined)
  }
}

const imageKeys = {
  name: text,
  entrypoint: texts,
  pull_policy: texts,
  docker: anything,
  kubernetes: anything,
}

const service = mapOr(
  mapOf(
    {
      ...imageKeys,
      alias: text,
      command: texts,
      ports: anything,
      variables: that(isMap, 'config should be a hash'),
    },
    ['name'],
  ),
  text,
)

const MOST_RETRIES = 2
const retries = that(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_RETRIES,
  `should be an integer between 0 and ${MOST_RETRIES}`,
)

/** Why a job may have failed, so that it is worth another try (docs/contract/B-resolved §5.4). */
const RETRY_WHEN = [
  'always',
  'unknown_failure',
  'script_failure',
  'api_failure',
  'stuck_or_timeout_failure',
  'runner_system_failure',
  'runner_unsupported',
  'runner_interrupted',
  'missing_dependency_failure',
  'stale_schedule',
  'job_execution_timeout',
  'image_pull_failure',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
]

const CACHES = 4
const CACHE_FILES = 2
const cacheFiles: Check = (value) =>
  texts(value) ??
  (listOf(value).length > CACHE_FILES
    ? `config has too many items (maximum is ${CACHE_FILES})`
    : undefined)
const cacheKey = mapOr(
  mapOf({ files: cacheFiles, files_commits: cacheFiles, prefix: text }, ['files']),
  plain,
)

/** The form of the keywords of a job that nothing else reads before it runs (docs/contract/D §5.2). */
const SHAPES: Readonly<Record<string, Check>> = {
  image: mapOr(mapOf(imageKeys, ['name']), text),
  services: (value) =>
    Array.isArray(value) ? oneOrMore(service)(value) : 'config should be a array',
  artifacts: mapOf({
    name: text,
    paths: texts,
    exclude: texts,
    untracked: flag,
    when: oneOf('on_success', 'on_failure', 'always'),
    expire_in: duration,
    expose_as: text,
    public: flag,
    access: oneOf('none', 'developer', 'maintainer', 'all'),
    reports: that(isMap, 'config should be a hash'),
  }),
  cache: oneOrMore(
    mapOf({
      key: cacheKey,
      paths: texts,
      untracked: flag,
      unprotect: flag,
      when: oneOf('on_success', 'on_failure', 'always'),
      policy: oneOf('pull-push', 'push', 'pull'),
      fallback_keys: texts,
    }),
    CACHES,
  ),
  retry: mapOr(
    mapOf({
      max: retries,
      when: oneOrMore(oneOf(...RETRY_WHEN)),
      exit_codes: wholeNumbers,
    }),
    retries,
  ),
  interruptible: flag,
  manual_confirmation: text,
  dependencies: that(
    (value) => Array.isArray(value) && value.every(isText),
    'config should be an array of strings',
  ),
  hooks: mapOf({ pre_get_sources_script: texts }),
  inherit: mapOf({
    default: allOrSome,
    variables: allOrSome,
  }),
  environment: mapOr(
    mapOf({
      name: plain,
      url: text,
      action: anything,
      on_stop: text,
      auto_stop_in: duration,
      deployment_tier: oneOf('production', 'staging', 'testing', 'development', 'other'),
      kubernetes: anything,
    }),
    anything,
  ),
  trigger: mapOr(
    mapOf({
      project: text,
      branch: text,
      include: anything,
      strategy: oneOf('depend', 'mirror'),
      forward: mapOf({ yaml_variables: flag, pipeline_variables: flag }),
      inputs: that(isMap, 'config should be a hash'),
    }),
    text,
  ),
  release: mapOf(
    {
      tag_name: text,
      tag_message: text,
      name: text,
      description: text,
      ref: plain,
      milestones: texts,
      released_at: text,
      assets: mapOf({ links: that(Array.isArray, 'config should be a array') }),
    },
    ['tag_name'],
  ),
}

/** Keywords of programs that are not connected here: a job that has one would run without what it asks for. */
const NOT_CONNECTED: Readonly<Record<string, string>> = {
  secrets: 'no external secret store is connected',
  run: 'there is no step runner',
  identity: 'no external identity provider is connected',
  dast_configuration: 'there are no profiles of scans',
}

/** Refuses keywords of a job that do not have their form, in the reference's words. */
export function assertShapes(where: string, job: ValueMap): void {
  for (const [key, reason] of Object.entries(NOT_CONNECTED)) {
    if (job[key] === undefined || job[key] === null) continue
    throw configFault(`${where}:${key} config is not supported: ${reason}`)
  }
  for (const [key, check] of Object.entries(SHAPES)) {
    const value = job[key]
    if (value === undefined || value === null) continue
    const fault = check(value)
    if (fault !== undefined) throw configFault(`${where}:${key} ${asFault(fault)}`)
  }
  assertIdTokens(where, job.id_tokens)
}

/** What is wrong with a plain keyword is reported as its configuration. */
function asFault(fault: string): string {
  return fault.startsWith('should') ? `config ${fault}` : fault
}

function assertIdTokens(where: string, value: Value): void {
  if (value === undefined || value === null) return
  if (!isMap(value)) throw configFault(`${where}:id_tokens config should be a hash`)
  for (const [name, token] of Object.entries(value)) {
    const fault = mapOf({ aud: texts }, ['aud'])(token)
    if (fault !== undefined) throw configFault(`${where}:id_tokens:${name} ${fault}`)
  }
}
