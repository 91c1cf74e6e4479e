import type { Ctx } from '../../ctx.ts'
import type { NugetVersion } from './queries.ts'

/** Below which address the answers to a request point: that of the project or group that was asked. */
export function rootOf(ctx: Pick<Ctx, 'config'>, level: 'projects' | 'groups', id: string): string {
  const below = level === 'groups' ? '/-/packages/nuget' : '/packages/nuget'
  return `${ctx.config.externalUrl}/api/v4/${level}/${encodeURIComponent(id)}${below}`
}

/** Files are always those of the project that has them. */
export function contentUrl(ctx: Pick<Ctx, 'config'>, row: NugetVersion): string {
  const { project_id, name_key, version_key } = row
  const root = rootOf(ctx, 'projects', String(project_id))
  return `${root}/download/${name_key}/${version_key}/${name_key}.${version_key}.nupkg`
}
