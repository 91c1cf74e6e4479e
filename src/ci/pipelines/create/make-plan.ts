import { callerKey } from '../../../access/caller-key.ts'
import type { Project } from '../../../access/subjects.ts'
import type { PatternBudget } from '../../../base/patterns/budget.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { listChangedPaths } from '../../../git/diff/changed-paths.ts'
import { findMergeBases } from '../../../git/history/merge-base.ts'
import { resolveRevision } from '../../../git/objects/revision.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { type CompiledConfig, compileConfig } from '../../config/compile.ts'
import { configFault, faultPath } from '../../config/fault.ts'
import { configPatterns } from '../../config/has-pattern.ts'
import { type Included, nameOfFile, withIncludes } from '../../config/include.ts'
import { fillInputs } from '../../config/inputs.ts'
import { type NoPipeline, type PipelinePlan, planPipeline } from '../../config/plan.ts'
import type { Circumstances } from '../../config/rules.ts'
import type { ValueMap } from '../../config/values.ts'
import { VariableScope } from '../../config/variable-scope.ts'
import { placeOfKey, readConfigFile } from '../../config/yaml.ts'
import { type CollectedVariable, collectVariables } from '../../variables/collect.ts'
import { configSources, listPathsElsewhere } from './config-sources.ts'
import { findConfig } from './find-config.ts'
import { faultWithoutMasked, hideMasked } from './hide-masked.ts'
import { knownVariables, type PipelineRef } from './known-variables.ts'
import type { PipelineInput } from './pipeline-input.ts'
import { writtenOf } from './run-variables.ts'
import { assertSize } from './within-plan.ts'

/** Whose files are kept in memory while one pipeline is planned. */
const MOST_TREES = 20

/** What a configuration means for one ref, and how its pipeline may be canceled. */
export interface MadePlan {
  readonly plan: PipelinePlan | NoPipeline
  readonly config: CompiledConfig
  /** The configuration with its includes in. */
  readonly merged: ValueMap
  readonly included: readonly Included[]
  /** Where the configuration was found; undefined for one that was given. */
  readonly configPath: string | undefined
  /** A text of the plan as everybody may see it. */
  hide(text: string): string
}

/** Reads the configuration of a commit and plans the pipeline that it means. Throws what is wrong with it. */
export async function makePlan(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  input: PipelineInput,
): Promise<MadePlan> {
  const secrets = await secretsOf(ctx, project, at, input)
  // The longest first: one may begin with another.
  const masked = secrets
    .flatMap((one) => (one.masked && one.value !== '' ? [one.value] : []))
    .sort((one, other) => other.length - one.length)
  try {
    const made = await planOf(ctx, project, at, { input, secrets })
    const included = made.included.map((one) => withoutMaskedNames(one, masked))
    const hide = (text: string) => hideMasked(text, masked)
    return { ...made, included, plan: withoutMaskedName(made.plan, masked), hide }
  } catch (error) {
    throw faultWithoutMasked(error, masked)
  }
}

/** What is included, and where from, may be given by variables. */
function withoutMaskedNames(one: Included, masked: readonly string[]): Included {
  const hide = (text: string) => hideMasked(text, masked)
  return {
    ...one,
    location: hide(one.location),
    path: one.path && hide(one.path),
    place: { ...one.place, project: hide(one.place.project) },
    context: { ...one.context, project: hide(one.context.project) },
  }
}

/** Whoever sees a pipeline sees its name. */
function withoutMaskedName(plan: MadePlan['plan'], masked: readonly string[]): MadePlan['plan'] {
  if (typeof plan === 'string' || plan.name === undefined) return plan
  return { ...plan, name: hideMasked(plan.name, masked) }
}

/** The variables of the project, its groups and the instance that may decide about a plan. */
async function secretsOf(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  { secrets = 'all' }: PipelineInput,
): Promise<readonly CollectedVariable[]> {
  if (secrets === 'none') return []
  const isProtected = at.protected && secrets === 'all'
  return await collectVariables(ctx, project, { protected: isProtected })
}

async function planOf(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  wanted: { readonly input: PipelineInput; readonly secrets: readonly CollectedVariable[] },
): Promise<Omit<MadePlan, 'hide'>> {
  const { input, secrets } = wanted
  const sources = { ...configSources(ctx), artifact: input.artifact }
  const { configSha = at.commit.id } = input
  const place = { projectId: project.id, project: project.full_path, sha: configSha }
  const given = input.content === undefined ? undefined : { path: '', text: input.content, place }
  const found = input.config
    ? undefined
    : (given ?? (await findConfig(ctx, project, place, sources)))
  const limits = {
    maxBytes: ctx.settings.get('max_yaml_size_bytes'),
    maxDepth: ctx.settings.get('max_yaml_depth'),
    caller: callerKey(ctx),
  }
  const known = await knownOf(ctx, project, at, input, found?.path ?? '')
  const circumstances = circumstancesOf(ctx, project, at, {
    source: input.source,
    ...withSecrets(known, secrets, input),
    patterns: configPatterns(limits.caller),
    paths: (elsewhere) =>
      elsewhere
        ? listPathsElsewhere(sources, elsewhere)
        : sources.paths({ ...place, sha: at.commit.id }),
  })
  const content = found
    ? await fillInputs(
        await readConfigFile(found.text, limits),
        input.inputs,
        found.path,
        circumstances.patterns,
      )
    : (input.config ?? {})
  const included: Included[] = []
  const context = { sources, circumstances, limits, included }
  // As it is without includes, so that it is known to be compiled already.
  const from = found?.place ?? place
  const own = found ? [nameOfFile(from, found.path)] : []
  const merged = 'include' in content ? await withIncludes(context, content, from, own) : content
  const config = await compiled(ctx, merged, circumstances.patterns, found?.text)
  const plan = await planPipeline(config, circumstances)
  if (typeof plan !== 'string') assertSize(ctx, plan)
  const configPath = given ? undefined : found?.path
  return { config, merged, included, plan, configPath }
}

/** What is wrong with a key of the file itself is reported with its line and column. */
async function compiled(
  ctx: Ctx,
  merged: ValueMap,
  patterns: PatternBudget,
  text: string | undefined,
): Promise<CompiledConfig> {
  try {
    return await compileConfig(merged, patterns)
  } catch (error) {
    const path = faultPath(error)
    const place =
      path && text !== undefined ? await placeOfKey(text, path, callerKey(ctx)) : undefined
    if (place === undefined || !(error instanceof Problem)) throw error
    throw configFault(`${(error.fields?.base ?? []).join(', ')} at ${place}`)
  }
}

async function knownOf(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  input: PipelineInput,
  configPath: string,
): Promise<ReadonlyMap<string, string>> {
  const { source, request } = input
  const known = await knownVariables(ctx, project, { ...at, source, configPath, request })
  return new Map([...known, ...(input.known ?? [])])
}

/** The variables of the run lie over those of the project, and these over what the server says. */
function withSecrets(
  known: ReadonlyMap<string, string>,
  secrets: readonly CollectedVariable[],
  input: PipelineInput,
): Pick<Circumstances, 'variables' | 'overriding'> {
  const overriding = [...secrets, ...input.variables.map(writtenOf)]
  return {
    variables: new VariableScope(known, overriding),
    overriding: new Set(overriding.map(({ key }) => key)),
  }
}

function circumstancesOf(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  known: Pick<Circumstances, 'source' | 'variables' | 'overriding' | 'patterns' | 'paths'>,
): Circumstances {
  const repo = ctx.git.open(project.id)
  const trees = new Map<string, Promise<readonly string[]>>()
  const changes = new Map<string | undefined, Promise<readonly string[] | undefined>>()
  const readChanged = async (compareTo: string | undefined) => {
    const from =
      compareTo === undefined
        ? at.comparedTo
        : (await ifFound(resolveRevision(repo, compareTo)))?.commitId
    if (from === undefined) {
      if (compareTo === undefined) return undefined
      throw configFault(`rules:changes:compare_to \`${compareTo}\` is not a valid ref`)
    }
    const [base = from] =
      compareTo === undefined ? [] : await findMergeBases(repo, [from, at.commit.id])
    const changed = await listChangedPaths(repo, base, at.commit.id)
    return [...new Set(changed.flatMap((one) => [one.oldPath, one.newPath]))]
  }
  return {
    ref: at.ref,
    tag: at.tag,
    ...known,
    async paths(elsewhere) {
      const key = JSON.stringify(elsewhere ?? null)
      const paths = trees.get(key) ?? known.paths(elsewhere)
      trees.set(key, paths)
      if (trees.size > MOST_TREES) {
        throw configFault(`rules:exists may look into ${MOST_TREES} projects at most`)
      }
      return await paths
    },
    async changed(compareTo) {
      const known = changes.get(compareTo)
      if (known) return await known
      const found = readChanged(compareTo)
      if (changes.size < MOST_TREES) changes.set(compareTo, found)
      return await found
    },
  }
}
