import { Timeslice } from '../../base/timeslice.ts'
import { type AutoCancel, readAutoCancel } from './auto-cancel.ts'
import { budget } from './budget.ts'
import { type CompiledConfig, SLICE_MS } from './compile.ts'
import { secondsOf } from './duration.ts'
import { configFault, TOO_LARGE } from './fault.ts'
import { WHEN, type When } from './job-keys.ts'
import type { JobTemplate } from './job-template.ts'
import { assertNoCircle, type Need, readNeeds } from './needs.ts'
import { passesOnlyExcept } from './only.ts'
import { copiesOf, type JobCopy } from './parallel.ts'
import { type Circumstances, firstRule, type Rule } from './rules.ts'
import { isMap, type ValueMap } from './values.ts'
import { withVariables } from './variable-scope.ts'
import { expandText, readVariables, type YamlVariable } from './variables.ts'

/** A job that is part of a pipeline. */
export interface PlannedJob {
  readonly name: string
  readonly kind: 'build' | 'bridge'
  readonly stage: string
  readonly when: Exclude<When, 'never'>
  readonly startIn: number | undefined
  readonly allowFailure: boolean
  readonly tags: readonly string[]
  readonly options: ValueMap
  readonly variables: readonly YamlVariable[]
  readonly needs: readonly Need[] | undefined
  readonly environment: ValueMap | undefined
  readonly resourceGroup: string | undefined
  readonly interruptible: boolean
  readonly coverage: string | undefined
  readonly timeout: number | undefined
  /** Which copy of a parallel job it is. */
  readonly copy: { readonly of: string; readonly index: number; readonly total: number } | undefined
}

export interface PipelinePlan {
  readonly autoCancel: AutoCancel
  readonly name: string | undefined
  readonly jobs: readonly PlannedJob[]
  /** The stages that have jobs, in order. */
  readonly stages: readonly string[]
}

/** Why there is no pipeline, although nothing is wrong with its configuration. */
export type NoPipeline = 'workflow' | 'no_jobs'

/** What one pipeline may have, whatever else its configuration may be. */
const MOST_JOBS = 5000
const MOST_VARIABLES = 1_000_000
/** Characters of all jobs together: what each says is kept for each, and copies of a job say the same. */
const MOST_WRITTEN = 50_000_000
const MOST_NEEDS = 500_000

/** The pipeline that a configuration means under these circumstances (docs/contract/D §5.3). */
export async function planPipeline(
  config: CompiledConfig,
  given: Circumstances,
): Promise<PipelinePlan | NoPipeline> {
  const globals = withVariables(given.variables, ownOnes(config.variables, given))
  const workflow = await workflowOf(config, { ...given, variables: globals })
  if (workflow === undefined) return 'workflow'
  const shared = joined(config.variables, workflow.variables)
  const variables = withVariables(globals, ownOnes(workflow.variables, given))
  const jobs: PlannedJob[] = []
  const spend = budget({ count: MOST_VARIABLES, characters: MOST_WRITTEN })
  const slice = new Timeslice(SLICE_MS)
  for (const template of config.jobs) {
    if (slice.isOver()) await slice.yield()
    const at = { ...given, variables: withVariables(variables, ownOnes(template.variables, given)) }
    const decided = await decide(template, at, config.workflowRules === undefined)
    if (!decided) continue
    const found = planned(template, decided, { shared, at, spend })
    jobs.push(...found)
    assertCount(jobs.length)
    for (const { name } of found) assertName(name)
  }
  if (jobs.length === 0) return 'no_jobs'
  const known = byName(jobs)
  assertNeedsMet(jobs, known, config.stages)
  const used = new Set(jobs.map((job) => job.stage))
  const onlyEdges = [...used].every((stage) => stage === '.pre' || stage === '.post')
  if (onlyEdges) return 'no_jobs'
  const name =
    config.workflowName && expandText(config.workflowName, variables).trim().slice(0, 255)
  const connected = withoutMissing(jobs, known)
  assertNoCircle(
    new Map(connected.map((job) => [job.name, (job.needs ?? []).map((need) => need.job)])),
  )
  return {
    name: name || undefined,
    autoCancel: workflow.autoCancel,
    jobs: connected,
    stages: config.stages.filter((stage) => used.has(stage)),
  }
}

function assertCount(jobs: number): void {
  if (jobs <= MOST_JOBS) return
  throw configFault(`The number of jobs has exceeded the limit of ${MOST_JOBS}.`)
}

/** Variables of the run, and those that people have set, lie over those of the configuration (docs/contract/D §5.5). */
function ownOnes(
  more: readonly YamlVariable[],
  { overriding }: Circumstances,
): readonly YamlVariable[] {
  return more.filter(({ key }) => !overriding.has(key))
}

async function workflowOf(
  config: CompiledConfig,
  at: Circumstances,
): Promise<
  { readonly variables: readonly YamlVariable[]; readonly autoCancel: AutoCancel } | undefined
> {
  const { autoCancel } = config
  if (!config.workflowRules) return { variables: [], autoCancel }
  const rule = await firstRule(config.workflowRules, at)
  if (!rule || rule.when === 'never') return undefined
  return {
    variables: readVariables(rule.variables) ?? [],
    autoCancel: readAutoCancel('workflow:rules', rule.auto_cancel, autoCancel),
  }
}

interface Decided {
  readonly when: Exclude<When, 'never'>
  readonly startIn: number | undefined
  readonly allowFailure: boolean
  readonly rule: Rule
}

/** Jobs that say nothing are for branches and tags, unless the rules of the workflow choose what pipelines there are. */
async function passesWithoutRules(
  job: JobTemplate,
  at: Circumstances,
  hasDefault: boolean,
): Promise<boolean> {
  const only = job.only ?? (hasDefault ? ['branches', 'tags'] : undefined)
  return await passesOnlyExcept(only, job.except, at)
}

async function decide(
  job: JobTemplate,
  at: Circumstances,
  hasDefault: boolean,
): Promise<Decided | undefined> {
  if (!job.rules) {
    if (!(await passesWithoutRules(job, at, hasDefault))) return undefined
    const { when, startIn } = job
    if (when === 'never') return undefined
    return { when, startIn, allowFailure: job.allowFailure ?? when === 'manual', rule: {} }
  }
  const rule = await firstRule(job.rules, at)
  if (!rule) return undefined
  const when = WHEN.find((word) => word === (rule.when ?? job.when))
  if (when === undefined || when === 'never') return undefined
  const allowed = typeof rule.allow_failure === 'boolean' ? rule.allow_failure : job.allowFailure
  const startIn = when === 'delayed' ? (secondsOf(rule.start_in) ?? job.startIn) : undefined
  if (when === 'delayed' && startIn === undefined) {
    throw configFault(`jobs:${job.name}:rules:rule start in should be a duration`)
  }
  return { when, startIn, allowFailure: allowed ?? false, rule }
}

function planned(
  job: JobTemplate,
  { rule, ...decided }: Decided,
  given: {
    readonly shared: readonly YamlVariable[]
    readonly at: Circumstances
    readonly spend: ReturnType<typeof budget>
  },
): PlannedJob[] {
  const { shared, at, spend } = given
  const inherited = shared.filter(({ key }) =>
    typeof job.inherits === 'boolean' ? job.inherits : job.inherits.has(key),
  )
  const own = joined(inherited, job.variables, readVariables(rule.variables) ?? [])
  const ruled =
    rule.needs === undefined ? undefined : readNeeds(`jobs:${job.name}:rules:needs`, rule.needs)
  const needs = ruled ? ruled.needs : job.needs
  const options = ruled ? { ...job.options, foreign_needs: ruled.foreign } : job.options
  const length = JSON.stringify(options).length
  const one = (copy: JobCopy | undefined): PlannedJob => {
    const withCopy = joined(own, copy?.variables ?? [])
    const known = withVariables(at.variables, ownOnes(withCopy, at))
    const written = withCopy.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
    spend(withCopy.length, length + written)
    const expand = (text: string) => {
      const found = expandText(text, known)
      spend(0, found.length)
      return found
    }
    return {
      name: copy?.name ?? job.name,
      kind: job.kind,
      stage: job.stage,
      ...decided,
      tags: job.tags.map(expand),
      options,
      variables: withCopy,
      needs,
      environment: environmentOf(job, expand),
      resourceGroup: job.resourceGroup && expand(job.resourceGroup),
      interruptible:
        typeof rule.interruptible === 'boolean' ? rule.interruptible : job.interruptible,
      coverage: job.coverage,
      timeout: job.timeout,
      copy: copy && { of: job.name, index: copy.index, total: copy.total },
    }
  }
  return copiesOf(job)?.map(one) ?? [one(undefined)]
}

const LONGEST_NAME = 255

/** Copies have long names where their variables have long values. */
function assertName(name: string): void {
  if (name.length <= LONGEST_NAME) return
  const begin = name.slice(0, 50)
  throw configFault(`jobs:${begin}… name is too long (maximum is ${LONGEST_NAME} characters)`)
}

/** The later of the same name wins, in its own place. */
function joined(...lists: readonly (readonly YamlVariable[])[]): readonly YamlVariable[] {
  const found = new Map<string, YamlVariable>()
  for (const variable of lists.flat()) found.set(variable.key, variable)
  return [...found.values()]
}

function environmentOf(job: JobTemplate, expand: (text: string) => string): ValueMap | undefined {
  if (job.environment === undefined) return undefined
  const given = isMap(job.environment) ? job.environment : { name: job.environment }
  const expanded = ['auto_stop_in', 'deployment_tier']
    .filter((key) => typeof given[key] === 'string')
    .map((key) => [key, expand(String(given[key]))])
  return {
    ...given,
    ...Object.fromEntries(expanded),
    name: expand(String(given.name)),
  }
}

/** Jobs by the names that needs may give them: their own, and that of the parallel job whose copies they are. */
type JobsByName = ReadonlyMap<string, readonly PlannedJob[]>

function byName(jobs: readonly PlannedJob[]): JobsByName {
  const found = new Map<string, PlannedJob[]>()
  for (const job of jobs) {
    for (const name of new Set([job.name, job.copy?.of ?? job.name])) {
      const known = found.get(name)
      if (known) known.push(job)
      else found.set(name, [job])
    }
  }
  return found
}

function assertNeedsMet(
  jobs: readonly PlannedJob[],
  known: JobsByName,
  stages: readonly string[],
): void {
  const positions = new Map(stages.map((stage, at) => [stage, at]))
  for (const job of jobs) {
    for (const need of job.needs ?? []) {
      const [needed] = known.get(need.job) ?? []
      if (needed && (positions.get(needed.stage) ?? 0) > (positions.get(job.stage) ?? 0)) {
        throw configFault(
          `${job.name} job: need ${need.job} is not defined in current or prior stages`,
        )
      }
      if (need.optional || needed) continue
      throw configFault(
        `'${job.name}' job needs '${need.job}' job, but '${need.job}' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.`,
      )
    }
  }
}

/** Needs by the names that jobs really have; optional ones that are not there are left out. */
function withoutMissing(jobs: readonly PlannedJob[], known: JobsByName): readonly PlannedJob[] {
  let room = MOST_NEEDS
  return jobs.map((job) => {
    const needs = job.needs?.flatMap((need) =>
      (known.get(need.job) ?? []).map(({ name }) => ({ ...need, job: name })),
    )
    room -= needs?.length ?? 0
    if (room < 0) throw configFault(TOO_LARGE)
    return { ...job, needs }
  })
}
