import { type AutoCancel, readAutoCancel } from './auto-cancel.ts'
import { resolveExtends, resolveReferences } from './extend.ts'
import { configFault, keyFault } from './fault.ts'
import { DEFAULT_KEYS, DEFAULT_STAGES, TOP_KEYS } from './job-keys.ts'
import { type JobTemplate, readJob } from './job-template.ts'
import { type Rule, readRules } from './rules.ts'
import { isMap, type Value, type ValueMap } from './values.ts'
import { readVariables, type YamlVariable } from './variables.ts'

/** A configuration that was found to be whole. */
export interface CompiledConfig {
  readonly stages: readonly string[]
  readonly variables: readonly YamlVariable[]
  readonly workflowRules: readonly Rule[] | undefined
  readonly workflowName: string | undefined
  readonly autoCancel: AutoCancel
  readonly jobs: readonly JobTemplate[]
}

/** Of configurations without includes and inputs, which are the same value as long as their text is remembered. */
const known = new WeakMap<ValueMap, CompiledConfig>()

/** Checks a configuration whose includes are in, and gives its jobs (docs/contract/D §5.1). */
export function compileConfig(merged: ValueMap): CompiledConfig {
  const found = known.get(merged) ?? compileAnew(merged)
  if (Object.isFrozen(merged)) known.set(merged, found)
  return found
}

function compileAnew(merged: ValueMap): CompiledConfig {
  const config = resolveReferences(resolveExtends(merged))
  const stages = readStages(config.stages ?? config.types)
  const variables = readVariables(config.variables)
  if (!variables) throw configFault('variables config should be a hash of key value pairs')
  const defaults = defaultsOf(config)
  const entries = Object.entries(config).filter(
    ([name]) => !TOP_KEYS.has(name) && !name.startsWith('.'),
  )
  const jobs = entries.map(([name, job]) => {
    if (!isMap(job)) throw configFault(`jobs:${name} config should be a hash`)
    return readJob(name, withDefaults(job, defaults))
  })
  if (jobs.length === 0) {
    throw configFault('jobs config should contain at least one visible job')
  }
  assertConnected(jobs, stages)
  return { stages, variables, jobs, ...readWorkflow(config.workflow) }
}

function readStages(value: Value): string[] {
  if (value === undefined || value === null) return [...DEFAULT_STAGES]
  const list: readonly unknown[] = Array.isArray(value) ? value.flat(10) : [value]
  if (!list.every((stage): stage is string => typeof stage === 'string')) {
    throw configFault('stages config should be an array of strings')
  }
  const between = list.filter((stage) => stage !== '.pre' && stage !== '.post')
  return ['.pre', ...new Set(between), '.post']
}

function defaultsOf(config: ValueMap): ValueMap {
  const given = config.default
  if (given !== undefined && !isMap(given)) throw configFault('default config should be a hash')
  const unknown = Object.keys(given ?? {}).filter((key) => !DEFAULT_KEYS.some((one) => one === key))
  const [first] = unknown
  if (first !== undefined) {
    throw keyFault(
      ['default', first],
      `default config contains unknown keys: ${unknown.join(', ')}`,
    )
  }
  const old = ['image', 'services', 'cache', 'before_script', 'after_script']
  const atTop = old.filter((key) => config[key] !== undefined).map((key) => [key, config[key]])
  return { ...Object.fromEntries(atTop), ...given }
}

/** A job's own key replaces the default, and `inherit` says which defaults it has at all. */
function withDefaults(job: ValueMap, defaults: ValueMap): ValueMap {
  const inherit = isMap(job.inherit) ? job.inherit.default : undefined
  const names = Array.isArray(inherit) ? inherit : undefined
  if (inherit === false) return job
  const kept = Object.entries(defaults).filter(
    ([key]) =>
      !(names && !names.includes(key)) && !(job.trigger !== undefined && key !== 'interruptible'),
  )
  return { ...Object.fromEntries(kept), ...job }
}

function readWorkflow(
  value: Value,
): Pick<CompiledConfig, 'workflowRules' | 'workflowName' | 'autoCancel'> {
  if (value === undefined || value === null) {
    const autoCancel = readAutoCancel('workflow', undefined)
    return { workflowRules: undefined, workflowName: undefined, autoCancel }
  }
  if (!isMap(value)) throw configFault('workflow config should be a hash')
  const unknown = Object.keys(value).filter(
    (key) => !['rules', 'name', 'auto_cancel'].includes(key),
  )
  const [first] = unknown
  if (first !== undefined) {
    throw keyFault(
      ['workflow', first],
      `workflow config contains unknown keys: ${unknown.join(', ')}`,
    )
  }
  return {
    workflowRules:
      value.rules === undefined ? undefined : readRules(value.rules, 'workflow:rules', 'workflow'),
    workflowName: typeof value.name === 'string' ? value.name : undefined,
    autoCancel: readAutoCancel('workflow', value.auto_cancel),
  }
}

/** Refuses unlisted stages, and needs and dependencies that no job has. */
function assertConnected(jobs: readonly JobTemplate[], stages: readonly string[]): void {
  const places = new Map(jobs.map((job) => [job.name, stages.indexOf(job.stage)]))
  for (const job of jobs) {
    if (!stages.includes(job.stage)) {
      const known = stages.join(', ')
      throw configFault(
        `${job.name} job: chosen stage ${job.stage} does not exist; available stages are ${known}`,
      )
    }
    assertNeeds(job, jobs, places)
    assertStopJob(job, jobs)
    const { dependencies } = job.options
    for (const name of Array.isArray(dependencies) ? dependencies : []) {
      if (places.has(String(name))) continue
      throw configFault(`${job.name} job: undefined dependency: ${String(name)}`)
    }
  }
  assertNoCircle(jobs)
}

function assertNeeds(
  job: JobTemplate,
  jobs: readonly JobTemplate[],
  places: ReadonlyMap<string, number>,
): void {
  for (const need of job.needs ?? []) {
    const at = places.get(need.job)
    if (at === undefined && !need.optional && !isCopy(need.job, jobs)) {
      throw configFault(`${job.name} job: undefined need: ${need.job}`)
    }
    if ((at ?? 0) > (places.get(job.name) ?? 0)) {
      throw configFault(
        `${job.name} job: need ${need.job} is not defined in current or prior stages`,
      )
    }
  }
}

/** What stops an environment must be a job that says so. */
function assertStopJob(job: JobTemplate, jobs: readonly JobTemplate[]): void {
  const named = isMap(job.environment) ? job.environment.on_stop : undefined
  if (typeof named !== 'string') return
  const found = jobs.find(({ name }) => name === named)
  if (!found) throw configFault(`${job.name} job: on_stop job ${named} is not defined`)
  if (isMap(found.environment) && found.environment.action === 'stop') return
  throw configFault(`${job.name} job: on_stop job ${named} needs to have action stop defined`)
}

/** `x 1/5` and `x: [a]` are named by needs too. */
function isCopy(name: string, jobs: readonly JobTemplate[]): boolean {
  const base = name.replace(/(?: \d+\/\d+|: \[.*\])$/, '')
  return base !== name && jobs.some((job) => job.name === base)
}

function assertNoCircle(jobs: readonly JobTemplate[]): void {
  const needs = new Map(jobs.map((job) => [job.name, (job.needs ?? []).map((need) => need.job)]))
  const done = new Set<string>()
  const chain = new Set<string>()
  const visit = (name: string): void => {
    if (done.has(name)) return
    if (chain.has(name)) throw configFault('The pipeline has circular dependencies')
    chain.add(name)
    for (const next of needs.get(name) ?? []) visit(next)
    chain.delete(name)
    done.add(name)
  }
  for (const job of jobs) visit(job.name)
}
