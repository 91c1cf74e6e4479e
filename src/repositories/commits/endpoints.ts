import { z } from 'zod'
import { pageOf } from '../../base/page.ts'
import { readCommitStats } from '../../git/diff/commit-stats.ts'
import { readCommitDiff } from '../../git/diff/diff.ts'
import { listRefsContaining } from '../../git/history/contains.ts'
import { countCommits } from '../../git/history/count.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, oneOf, text } from '../../http/params.ts'
import { codeRead } from '../repository/access.ts'
import { diffEntity, presentDiff, shownIn } from '../repository/diff-entity.ts'
import { getSignature, signatureEntity } from '../repository/signature.ts'
import { commitListParams } from './commit-params.ts'
import { describeCommit, getCommit } from './describe-commit.ts'
import { commitDetailEntity, listedCommitEntity, presentCommit, presentStats } from './entity.ts'
import { listCommits } from './list-commits.ts'

const hidden = { hidden: true } as const

export const listRepositoryCommits = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits',
  summary: 'List the commits of a branch, a range or all refs',
  ...codeRead(hidden),
  query: commitListParams,
  paginate: 'offset',
  response: z.array(listedCommitEntity),
  async handler({ ctx, project, repo, query, page, request }) {
    const commits = await listCommits(ctx, project, query, page, request.signal)
    const ids = commits.map((commit) => commit.id)
    const stats = query.with_stats ? await readCommitStats(repo, ids, request.signal) : []
    return {
      items: commits.map((commit, index) => {
        const counted = stats[index]
        const brief = presentCommit(ctx, project, commit, query)
        return counted ? { ...brief, stats: presentStats(counted) } : brief
      }),
    }
  },
})

export const getSingleCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha',
  summary: 'Read a commit by id, branch or tag',
  ...codeRead(hidden),
  jobToken: true,
  params: { sha: text() },
  query: { stats: flag().default(true) },
  response: commitDetailEntity,
  async handler({ ctx, project, repo, params, query, request }) {
    const commit = await getCommit(repo, params.sha, request.signal)
    return await describeCommit(ctx, project, commit, query, request.signal)
  },
})

export const getCommitDiff = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/diff',
  summary: 'List what a commit changed',
  ...codeRead(hidden),
  params: { sha: text() },
  query: { unidiff: flag().default(false) },
  paginate: 'offset',
  response: z.array(diffEntity),
  async handler({ repo, params, query, page, request }) {
    const commit = await getCommit(repo, params.sha, request.signal)
    const { files } = await readCommitDiff(repo, { id: commit.id }, request.signal)
    const { items, total } = pageOf(files, page)
    const shown = await shownIn(repo, commit.id, items, request.signal)
    return { items: items.map((file) => presentDiff(file, query, shown)), total }
  },
})

export const getCommitSignature = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  summary: 'Read the signature of a commit',
  ...codeRead(hidden),
  params: { sha: text() },
  response: signatureEntity,
  async handler({ ctx, repo, params, request }) {
    const commit = await getCommit(repo, params.sha, request.signal)
    const { id, committer } = commit
    const { email, date } = committer
    return await getSignature(ctx, { repo, id, email, date, signal: request.signal })
  },
})

const prefixes = { branch: ['refs/heads/'], tag: ['refs/tags/'] } as const

export const listCommitRefs = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/refs',
  summary: 'List the branches and tags that contain a commit',
  ...codeRead(hidden),
  params: { sha: text() },
  query: { type: oneOf(['branch', 'tag', 'all']).default('all') },
  paginate: 'offset',
  response: z.array(z.strictObject({ type: z.enum(['branch', 'tag']), name: z.string() })),
  async handler({ repo, params, query, page, request }) {
    const commit = await getCommit(repo, params.sha, request.signal)
    const wanted =
      query.type === 'all' ? [...prefixes.branch, ...prefixes.tag] : prefixes[query.type]
    const asked = { revision: commit.id, prefixes: wanted }
    const refs = await listRefsContaining(repo, asked, request.signal)
    const items = refs.map(({ name }) => {
      const type = name.startsWith('refs/tags/') ? ('tag' as const) : ('branch' as const)
      return { type, name: name.replace(/^refs\/(heads|tags)\//, '') }
    })
    return { items: pageOf(items, page).items }
  },
})

export const getCommitSequence = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/sequence',
  summary: 'Count the commits that lead to a commit',
  ...codeRead(hidden),
  params: { sha: text() },
  query: { first_parent: flag().default(false) },
  response: z.strictObject({ count: z.int() }),
  async handler({ repo, params, query, request }) {
    const commit = await getCommit(repo, params.sha, request.signal)
    const asked = { revision: commit.id, firstParent: query.first_parent }
    return { count: await countCommits(repo, asked, request.signal) }
  },
})
