import { z } from 'zod'
import { pageOf } from '../../base/page.ts'
import { existing, invalidText, notFound } from '../../base/problem.ts'
import { GitError } from '../../git/error.ts'
import { countByWeek } from '../../git/history/activity.ts'
import { readContributors, sortContributors } from '../../git/history/contributors.ts'
import { countAheadBehind, findMergeBases } from '../../git/history/merge-base.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, oneOf, text } from '../../http/params.ts'
import { commitEntity, presentCommit } from '../commits/entity.ts'
import { codeRead, refOrDefault } from '../repository/access.ts'
import { ifFound, orNotFound } from '../repository/missing.ts'
import { contributorCache } from './contributor-cache.ts'

const contributorEntity = z.strictObject({
  name: z.string(),
  email: z.string(),
  commits: z.int(),
  additions: z.int(),
  deletions: z.int(),
})

export const listContributors = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/contributors',
  summary: 'List who made the commits of a branch',
  ...codeRead(),
  query: {
    ref: text().optional(),
    order_by: oneOf(['name', 'email', 'commits']).optional(),
    sort: oneOf(['asc', 'desc']).default('asc'),
  },
  paginate: 'offset',
  response: z.array(contributorEntity),
  async handler({ ctx, project, repo, query, page, request }) {
    const tip = existing(await ifFound(resolveRevision(repo, refOrDefault(project, query.ref))))
    const cache = contributorCache(ctx, project.id)
    const all = await readContributors(repo, tip.commitId, cache, request.signal)
    const sorted = sortContributors(all, { orderBy: query.order_by, sort: query.sort })
    const { items, total } = pageOf(sorted, page)
    return { items: items.map(({ newest: _, ...shown }) => shown), total }
  },
})

export const getMergeBase = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/merge_base',
  summary: 'Find the common ancestor of several refs',
  ...codeRead(),
  query: { refs: csv(text(), { max: 100 }) },
  response: commitEntity,
  async handler({ ctx, project, repo, query, request }) {
    if (query.refs.length < 2) throw invalidText('Provide at least 2 refs')
    const found = findMergeBases(repo, query.refs, request.signal)
    const [base] = await found.catch((error: unknown) => {
      const unknown = error instanceof GitError ? error.detail.revisions : undefined
      if (typeof unknown !== 'string') throw error
      throw invalidText(`Could not find ref${unknown.includes(', ') ? 's' : ''}: ${unknown}`)
    })
    if (base === undefined) throw notFound('Merge Base')
    return presentCommit(ctx, project, await readCommit(repo, base), { trailers: true })
  },
})

export const listCommitActivity = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commit_activity',
  summary: 'Count the commits of a branch, tag or commit by week',
  ...codeRead(),
  query: { ref: text().optional() },
  response: z.array(z.strictObject({ week: z.string(), commits: z.int() })),
  async handler({ project, repo, query, request }) {
    const tip = existing(await ifFound(resolveRevision(repo, refOrDefault(project, query.ref))))
    const weeks = await countByWeek(repo, tip.commitId, request.signal)
    return weeks.map(({ start, commits }) => {
      return { week: new Date(start * 1000).toISOString().slice(0, 10), commits }
    })
  },
})

export const listDivergence = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/divergence',
  summary: 'Count how many commits branches have that another lacks, and the other way round',
  ...codeRead(),
  query: { base: text().optional(), refs: csv(text(), { max: 100 }) },
  response: z.array(z.strictObject({ ref: z.string(), ahead: z.int(), behind: z.int() })),
  async handler({ project, repo, query, request }) {
    const base = await orNotFound('Ref', resolveRevision(repo, refOrDefault(project, query.base)))
    const found = await Promise.all(
      query.refs.map(async (ref) => ({ ref, at: await ifFound(resolveRevision(repo, ref)) })),
    )
    const known = found.flatMap(({ ref, at }) => (at ? [{ ref, id: at.commitId }] : []))
    const ids = known.map(({ id }) => id)
    const counts = await countAheadBehind(repo, base.commitId, ids, request.signal)
    return known.flatMap(({ ref }, index) => {
      const count = counts[index]
      return count ? [{ ref, ...count }] : []
    })
  },
})
