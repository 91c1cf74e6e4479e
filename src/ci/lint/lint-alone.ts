import { stringify } from 'yaml'
import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { compileConfig } from '../config/compile.ts'
import { resolveExtends, resolveReferences } from '../config/extend.ts'
import { type ConfigSources, type Included, withIncludes } from '../config/include.ts'
import { fillInputs } from '../config/inputs.ts'
import type { ValueMap } from '../config/values.ts'
import { readConfigFile } from '../config/yaml.ts'
import { configSources } from '../pipelines/config-sources.ts'
import { faultsOf, lintedJobEntity, presentLintedJob } from './lint-config.ts'

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
    const merged = await mergedOf(ctx, input.content)
    const { jobs } = compileConfig(merged)
    const whole = () => stringify(resolveReferences(resolveExtends(merged)))
    return {
      status: 'valid',
      errors: [],
      warnings: [],
      ...(input.includeMerged ? { merged_yaml: whole() } : {}),
      ...(input.includeJobs ? { jobs: jobs.map(presentLintedJob) } : {}),
    }
  } catch (error) {
    return { status: 'invalid', errors: faultsOf(error), warnings: [] }
  }
}

/** No project has this id. */
const nowhere = { projectId: 0, sha: '' }

async function mergedOf(ctx: Ctx, content: string): Promise<ValueMap> {
  const limits = {
    maxBytes: ctx.settings.get('max_yaml_size_bytes'),
    maxDepth: ctx.settings.get('max_yaml_depth'),
  }
  const known = configSources(ctx)
  const sources: ConfigSources = {
    ...known,
    file: async (place, path) => (place === nowhere ? undefined : await known.file(place, path)),
    paths: async (place) => (place === nowhere ? [] : await known.paths(place)),
  }
  const circumstances = {
    ref: '',
    tag: false,
    source: 'push',
    variables: new Map<string, string>(),
    paths: async () => [],
    changed: async () => undefined,
  }
  const included: Included[] = []
  const own = fillInputs(readConfigFile(content, limits), {}, '')
  return await withIncludes({ sources, circumstances, limits, included }, own, nowhere)
}
