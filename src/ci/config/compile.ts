import type { PatternBudget } from '../../base/patterns/budget.ts'
import { Timeslice } from '../../base/timeslice.ts'
import { type AutoCancel, readAutoCancel } from './auto-cancel.ts'
import { resolveExtends, resolveReferences } from './extend.ts'
import { configFault, keyFault } from './fault.ts'
import { assertJobInputs } from './job-inputs.ts'
import { DEFAULT_KEYS, DEFAULT_STAGES, TOP_KEYS } from './job-keys.ts'
import { type JobTemplate, readJob } from './job-template.ts'
import { assertNoCircle } from './needs.ts'
import { nameOfAll } from './parallel.ts'
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

/** Others get their turn after so long. */
export const SLICE_MS = 20

/** Of configurations without includes and inputs, which are the same value as long as their text is remembered. */
const known = new WeakMap<ValueMap, CompiledConfig>()

/** Checks a configuration whose includes are in, and gives its jobs (docs/contract/D §5.1). */
export async function compileConfig(
  merged: ValueMap,
  patterns: PatternBudget,
): Promise<CompiledConfig> {
  const found = known.get(merged) ?? (await compileAnew(merged, patterns))
  if (Object.isFrozen(merged)) known.set(merged, found)
  return found
}

async function compileAnew(merged: ValueMap, patterns: PatternBudget): Promise<CompiledConfig> {
  const config = resolveReferences(resolveExtends(merged))
  const stages = readStages(config.stages ?? config.types)
  const variables = readVariables(config.variables)
  if (!variables) throw configFault('variables config should be a hash of key value pairs')
  const defaults = defaultsOf(config)
  const entries = Object.entries(config).filter(
    ([name]) => !TOP_KEYS.has(name) && !name.startsWith('.'),
  )
  const slice = new Timeslice(SLICE_MS)
  const jobs: JobTemplate[] = []
  for (const [name, job] of entries) {
    if (!isMap(job)) throw configFault(`jobs:${name} config should be a hash`)
    const whole = withDefaults(job, defaults)
    jobs.push(readJob(name, whole))
    await assertJobInputs(`jobs:${name}`, whole, patterns)
    if (slice.isOver()) await slice.yield()
  }
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

type JobsByName = ReadonlyMap<string, JobTemplate>

/** Refuses unlisted stages, and needs and dependencies that no job has. */
function assertConnected(jobs: readonly JobTemplate[], stages: readonly string[]): void {
  const known = new Map(jobs.map((job) => [job.name, job]))
  const positions = new Map(stages.map((stage, at) => [stage, at]))
  for (const job of jobs) {
    if (!positions.has(job.stage)) {
      const list = stages.join(', ')
      throw configFault(
        `${job.name} job: chosen stage ${job.stage} does not exist; available stages are ${list}`,
      )
    }
    for (const { job: name, optional } of job.needs ?? []) {
      assertThere(job, { word: 'need', name, optional }, known, positions)
    }
    const { dependencies } = job.options
    for (const name of Array.isArray(dependencies) ? dependencies.map(String) : []) {
      assertThere(job, { word: 'dependency', name, optional: false }, known, positions)
    }
    assertDistinct(job)
    assertStopJob(job, known)
  }
  const needed = ({ needs = [] }: JobTemplate) =>
    needs.map((need) => jobOf(need.job, known)?.name ?? need.job)
  assertNoCircle(new Map(jobs.map((job) => [job.name, needed(job)])))
}

/** Refuses what a job names if there is no such job, or only in a later stage. */
function assertThere(
  job: JobTemplate,
  {
    word,
    name,
    optional,
  }: { readonly word: string; readonly name: string; readonly optional: boolean },
  known: JobsByName,
  positions: ReadonlyMap<string, number>,
): void {
  const other = jobOf(name, known)
  if (!other && !optional) throw configFault(`${job.name} job: undefined ${word}: ${name}`)
  const at = (one: JobTemplate) => positions.get(one.stage) ?? 0
  if (!other || at(other) <= at(job)) return
  throw configFault(`${job.name} job: ${word} ${name} is not defined in current or prior stages`)
}

function assertDistinct({ name, needs = [] }: JobTemplate): void {
  const names = new Set<string>()
  const twice = new Set<string>()
  for (const { job } of needs) (names.has(job) ? twice : names).add(job)
  if (twice.size === 0) return
  throw configFault(`${name} has the following needs duplicated: ${[...twice].join(', ')}.`)
}

/** What stops an environment must be a job that says so. */
function assertStopJob(job: JobTemplate, known: JobsByName): void {
  const named = isMap(job.environment) ? job.environment.on_stop : undefined
  if (typeof named !== 'string') return
  const found = known.get(named)
  if (!found) throw configFault(`${job.name} job: on_stop job ${named} is not defined`)
  if (isMap(found.environment) && found.environment.action === 'stop') return
  throw configFault(`${job.name} job: on_stop job ${named} needs to have action stop defined`)
}

/** The job of a name; `x 1/5` and `x: [a]` are named by needs too. */
function jobOf(name: string, known: JobsByName): JobTemplate | undefined {
  return known.get(name) ?? known.get(nameOfAll(name))
}
