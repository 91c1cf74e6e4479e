import { findVisibleProject } from '../../../access/subjects.ts'
import { OutboundError } from '../../../base/outbound/outbound-guard.ts'
import type { Ctx } from '../../../ctx.ts'
import { readContentAt } from '../../../git/history/file.ts'
import { resolveRevision } from '../../../git/objects/revision.ts'
import { readTree } from '../../../git/objects/tree.ts'
import { listReleasedTags } from '../../../publishing/releases/queries.ts'
import { defaultRef } from '../../../repositories/repository/access.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { findTemplate } from '../../../repositories/templates/catalog.ts'
import { configFault } from '../../config/fault.ts'
import type { ConfigSources, Place } from '../../config/include.ts'
import type { Elsewhere } from '../../config/rules.ts'
import { mayIncludeFrom } from '../access.ts'

/** How long other servers may take: one file, and all files of a configuration together. */
const REMOTE_TIME_MS = 10_000
const ALL_REMOTE_TIME_MS = 30_000

/** Where the caller's configurations come from: projects that the caller may read, templates, and other servers. */
export function configSources(ctx: Ctx): ConfigSources {
  const most = ctx.settings.get('max_yaml_size_bytes')
  let left = ALL_REMOTE_TIME_MS
  return {
    async file(place, path) {
      const options = { ref: place.sha, path, limit: most }
      const found = await ifFound(readContentAt(ctx.git.open(place.projectId), options))
      return found?.toString('utf8')
    },
    paths: (place) => listPaths(ctx, place),
    project: (path, ref) => findPlace(ctx, path, ref),
    releases: ({ projectId }) => listReleasedTags(ctx.db, projectId, ctx.now()),
    async remote(url) {
      const start = performance.now()
      const found = await fetchText(ctx, url, { most, timeoutMs: Math.min(REMOTE_TIME_MS, left) })
      left = Math.max(0, left - (performance.now() - start))
      return found
    },
    async template(name) {
      const plain = name.replace(/\.[a-z]+-ci\.yml$/, '')
      return findTemplate('ci', plain.split('/').at(-1) ?? plain)?.content
    },
  }
}

/** Every file of a commit. */
async function listPaths(ctx: Ctx, place: Place): Promise<readonly string[]> {
  const repo = ctx.git.open(place.projectId)
  const tree = await ifFound(readTree(repo, { ref: place.sha, recursive: true }))
  return (tree?.entries ?? []).filter(({ type }) => type === 'blob').map(({ path }) => path)
}

/** Every file of another project that the caller may read; throws the fault of the configuration that asks otherwise. */
export async function listPathsElsewhere(
  sources: ConfigSources,
  { project, ref }: Elsewhere,
): Promise<readonly string[]> {
  const place = await sources.project(project, ref)
  if (!place) throw configFault(`rules:exists:project \`${project}\` not found or access denied!`)
  return await sources.paths(place)
}

async function findPlace(
  ctx: Ctx,
  path: string,
  ref: string | undefined,
): Promise<Place | undefined> {
  const project = await findVisibleProject(ctx, path.replace(/^\//, ''))
  if (!project || !mayIncludeFrom(ctx, project)) return undefined
  const repo = ctx.git.open(project.id)
  const found = await ifFound(resolveRevision(repo, ref ?? defaultRef(project)))
  return found && { projectId: project.id, project: project.full_path, sha: found.commitId }
}

async function fetchText(
  ctx: Ctx,
  url: string,
  { most, timeoutMs }: { readonly most: number; readonly timeoutMs: number },
): Promise<string | undefined> {
  if (!/^https?:\/\//.test(url)) return undefined
  try {
    const answer = await ctx.outbound.request(url, {
      redirects: 3,
      maxSize: most,
      timeoutMs,
    })
    const body = await answer.read()
    return answer.status === 200 ? body.toString('utf8') : undefined
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw configFault(`Remote file \`${url}\` could not be fetched: ${error.message}`)
  }
}
