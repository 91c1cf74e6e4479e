import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { configFault, MISSING_CONFIG } from '../../config/fault.ts'
import type { ConfigSources, Place } from '../../config/include.ts'

/** The text of a project's configuration at a commit. */
export interface ConfigText {
  readonly path: string
  readonly text: string
  /** Where its own local includes are. */
  readonly place: Place
}

/**
 * Finds the configuration where the project's settings, the instance's or the usual names say: a path, `path@group/project`
 * with an optional `:ref`, or a URL (docs/contract/D §5).
 */
export async function findConfig(
  ctx: Ctx,
  project: Project,
  place: Place,
  sources: ConfigSources,
): Promise<ConfigText> {
  const chosen =
    projectSetting(project, 'ci_config_path') || ctx.settings.get('default_ci_config_path')
  for (const path of chosen ? [chosen] : ctx.config.vendor.ciFiles) {
    const found = await readOne(path, place, sources)
    if (found) return found
  }
  throw configFault(MISSING_CONFIG)
}

async function readOne(
  path: string,
  place: Place,
  sources: ConfigSources,
): Promise<ConfigText | undefined> {
  if (/^https?:\/\//.test(path)) {
    const text = await sources.remote(path)
    return text === undefined ? undefined : { path, text, place }
  }
  const [, file, project, ref] = /^(.+)@([^@:]+\/[^@:]+)(?::(.+))?$/.exec(path) ?? []
  const there = project === undefined ? place : await sources.project(project, ref)
  const text = there && (await sources.file(there, (file ?? path).replace(/^\//, '')))
  return there === undefined || text === undefined ? undefined : { path, text, place: there }
}
