import type { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import { invalidText, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type LogOptions, readLog } from '../../git/history/log.ts'
import type { Commit } from '../../git/types.ts'
import { refOrDefault } from '../repository/access.ts'
import { isPath } from '../repository/list-tree.ts'
import { isMissing } from '../repository/missing.ts'
import type { commitListParams } from './commit-params.ts'

/**
 * A page of the commits list. An unknown ref has no commits; an ill-formed one is refused (docs/contract/B-resolved §2.1).
 */
export async function listCommits(
  ctx: Ctx,
  project: Project,
  filter: z.infer<z.ZodObject<typeof commitListParams>>,
  page: OffsetPage,
  signal: AbortSignal,
): Promise<readonly Commit[]> {
  const ref = filter.ref_name ?? ''
  if (ref.startsWith('-') || /\s/.test(ref.trim())) throw invalidText('ref_name is invalid')
  if (!isPath(filter.path ?? '')) return []
  const options: LogOptions = {
    revision: refOrDefault(project, filter.ref_name),
    all: filter.all,
    path: filter.path,
    author: filter.author,
    search: filter.search,
    since: filter.since,
    until: filter.until,
    firstParent: filter.first_parent,
    order: filter.order,
    skip: page.offset,
    limit: page.perPage,
  }
  try {
    const { commits } = await readLog(ctx.git.open(project.id), options, signal)
    return commits
  } catch (error) {
    if (!isMissing(error)) throw error
    if (error.code === 'invalid') throw invalidText(`${error.detail.of ?? 'ref_name'} is invalid`)
    if (!(await ctx.git.exists(project.id))) throw notFound('Repository')
    return []
  }
}
