import { posix } from 'node:path'
import { z } from 'zod'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommits } from '../../git/objects/commit.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { type FoundLines, searchFiles, searchMessages } from '../../git/objects/search.ts'
import { type CommitBrief, presentCommit } from '../../repositories/commits/entity.ts'
import { defaultRef } from '../../repositories/repository/access.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import type { SearchPlace } from '../../store/search.ts'
import { parseCodeQuery } from './code-query.ts'
import { type CodeProject, listCodeProjects } from './queries.ts'

/** Lines of a file that were found (docs/contract/D §1.27). */
export const blobHitEntity = z.strictObject({
  basename: z.string(),
  data: z.string(),
  path: z.string(),
  filename: z.string(),
  id: z.null(),
  ref: z.string(),
  startline: z.int(),
  project_id: z.int().nullable(),
  group_id: z.int().nullable(),
})

export type BlobHit = z.input<typeof blobHitEntity>

export interface CodeSearch {
  readonly place: SearchPlace
  readonly text: string
  readonly ref?: string | undefined
  readonly contextLines: number
}

/** Beyond one project, the code of so many of those with the latest activity is searched. */
export const MOST_PROJECTS = 50

/** Files that contain a text, or are named so, on one ref of each project. */
export async function searchBlobs(
  ctx: Ctx,
  search: CodeSearch,
  page: OffsetPage,
  signal: AbortSignal,
): Promise<Paged<BlobHit>> {
  const { text, paths } = parseCodeQuery(search.text)
  if (text === '') return { items: [] }
  const wanted = page.offset + page.perPage + 1
  return await collect(ctx, search, page, async (project, commitId) => {
    const options = { commitId, text, paths, context: search.contextLines, limit: wanted }
    const hits = await searchFiles(ctx.git.open(project.id), options, signal)
    const ref = search.ref || project.default_branch || commitId
    return hits.map((hit) => presentHit(hit, ref, { project_id: project.id, group_id: null }))
  })
}

/** Lines that were found, for the wire. */
export function presentHit(
  hit: FoundLines,
  ref: string,
  of: Pick<BlobHit, 'project_id' | 'group_id'>,
): BlobHit {
  const { path, data, startline } = hit
  const basename = posix.join(posix.dirname(path), posix.parse(path).name)
  return { basename, data, path, filename: path, id: null, ref, startline, ...of }
}

/** Commits whose message contains a text, newest first. */
export async function searchCommits(
  ctx: Ctx,
  search: CodeSearch,
  page: OffsetPage,
  signal: AbortSignal,
): Promise<Paged<CommitBrief>> {
  const wanted = page.offset + page.perPage + 1
  return await collect(ctx, search, page, async (project, commitId) => {
    const repo = ctx.git.open(project.id)
    const options = { commitId, text: search.text, skip: 0, limit: wanted }
    const ids = await searchMessages(repo, options, signal)
    const commits = await readCommits(repo, ids, signal)
    return commits.map((commit) => presentCommit(ctx, project, commit))
  })
}

/** Goes through the projects until a page is full. */
async function collect<T>(
  ctx: Ctx,
  search: CodeSearch,
  page: OffsetPage,
  find: (project: CodeProject, commitId: string) => Promise<readonly T[]>,
): Promise<Paged<T>> {
  const viewer = viewerOf(ctx)
  const projects = await listCodeProjects(ctx.db, viewer, search.place, MOST_PROJECTS)
  const wanted = page.offset + page.perPage + 1
  const found: T[] = []
  for (const project of projects) {
    if (found.length >= wanted) break
    const repo = ctx.git.open(project.id)
    const at = await ifFound(resolveRevision(repo, search.ref || defaultRef(project)))
    if (at) found.push(...(await find(project, at.commitId).catch(noneIfDeleted(ctx, project.id))))
  }
  return pageOf(found, page)
}

/** The part of what was found that is on a page; totals are not counted. */
export function pageOf<T>(found: readonly T[], { offset, perPage }: OffsetPage): Paged<T> {
  const end = offset + perPage
  return { items: found.slice(offset, end), more: found.length > end }
}

/** What fails in a repository that was deleted meanwhile has found nothing. */
function noneIfDeleted(ctx: Ctx, projectId: number) {
  return async (error: unknown): Promise<[]> => {
    if (await ctx.git.exists(projectId)) throw error
    return []
  }
}
