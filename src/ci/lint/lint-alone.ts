import { z } from 'zod'
import { callerKey } from '../../access/caller-key.ts'
import type { Project } from '../../access/subjects.ts'
import type { PatternBudget } from '../../base/patterns/budget.ts'
import type { Ctx } from '../../ctx.ts'
import { compileConfig } from '../config/compile.ts'
import { resolveExtends, resolveReferences } from '../config/extend.ts'
import { configPatterns } from '../config/has-pattern.ts'
import { type ConfigSources, type Included, withIncludes } from '../config/include.ts'
import { fillInputs } from '../config/inputs.ts'
import type { Elsewhere } from '../config/rules.ts'
import type { ValueMap } from '../config/values.ts'
import { readConfigFile, writeYaml } from '../config/yaml.ts'
import { configSources, listPathsElsewhere } from '../pipelines/create/config-sources.ts'
import {
  faultsOf,
  type lintEntity,
  lintedJobEntity,
  presentIncluded,
  presentLintedJob,
} from './lint-config.ts'

/** What is wrong with a configuration that belongs to no project (docs/contract/D §1.20). */
export const lintedAloneEntity = z.strictObject({
  status: z.enum(['valid', 'invalid']),
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  merged_yaml: z.string().optional(),
  jobs: z.array(lintedJobEntity).optional(),
})

interface AloneInput {
  readonly content: string
  readonly includeMerged: boolean
  readonly includeJobs: boolean
}

/** Looks at a configuration for itself: there are no local files to include, and nothing that has changed. */
export async function lintAlone(
  ctx: Ctx,
  input: AloneInput,
): Promise<z.input<typeof lintedAloneEntity>> {
  try {
    const { merged, patterns } = await mergedOf(ctx, input.content)
    const { jobs } = await compileConfig(merged, patterns)
    const whole = async () =>
      await writeYaml(resolveReferences(resolveExtends(merged)), callerKey(ctx))
    return {
      status: 'valid',
      errors: [],
      warnings: [],
      ...(input.includeMerged ? { merged_yaml: await whole() } : {}),
      ...(input.includeJobs ? { jobs: jobs.map(presentLintedJob) } : {}),
    }
  } catch (error) {
    return { status: 'invalid', errors: faultsOf(error), warnings: [] }
  }
}

/** The same for a project without commits, in the form of `lintConfig`. */
export async function lintBeforeCommits(
  ctx: Ctx,
  project: Project,
  input: Pick<AloneInput, 'content' | 'includeJobs'>,
): Promise<z.input<typeof lintEntity>> {
  try {
    const found = await mergedOf(ctx, input.content, project.full_path)
    const { merged, included, patterns } = found
    const { jobs } = await compileConfig(merged, patterns)
    return {
      valid: true,
      errors: [],
      warnings: [],
      merged_yaml: await writeYaml(resolveReferences(resolveExtends(merged)), callerKey(ctx)),
      includes: included.map((one) => presentIncluded(ctx, one)),
      ...(input.includeJobs ? { jobs: jobs.map(presentLintedJob) } : {}),
    }
  } catch (error) {
    const errors = faultsOf(error)
    return { valid: false, errors, warnings: [], merged_yaml: null, includes: [] }
  }
}

/** No project has this id. */
const NOWHERE = 0

async function mergedOf(
  ctx: Ctx,
  content: string,
  project = '',
): Promise<{ merged: ValueMap; included: readonly Included[]; patterns: PatternBudget }> {
  const limits = {
    maxBytes: ctx.settings.get('max_yaml_size_bytes'),
    maxDepth: ctx.settings.get('max_yaml_depth'),
    caller: callerKey(ctx),
  }
  const known = configSources(ctx)
  const sources: ConfigSources = {
    ...known,
    file: async (place, path) =>
      place.projectId === NOWHERE ? undefined : await known.file(place, path),
    paths: async (place) => (place.projectId === NOWHERE ? [] : await known.paths(place)),
  }
  const patterns = configPatterns(limits.caller)
  const circumstances = {
    patterns,
    ref: '',
    tag: false,
    source: 'push',
    variables: new Map<string, string>(),
    overriding: new Set<string>(),
    paths: async (elsewhere?: Elsewhere) =>
      elsewhere ? await listPathsElsewhere(known, elsewhere) : [],
    changed: async () => undefined,
  }
  const included: Included[] = []
  const nowhere = { projectId: NOWHERE, project, sha: '' }
  const file = await readConfigFile(content, limits)
  const own = await fillInputs(file, {}, '', patterns)
  const merged = await withIncludes({ sources, circumstances, limits, included }, own, nowhere)
  return { merged, included, patterns }
}
