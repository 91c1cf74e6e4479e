import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { badParameters, invalidText } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { type Branch, listBranches } from '../../git/refs/branches.ts'
import type { Repo } from '../../git/repo.ts'
import { noObject } from '../../git/types.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, instant, oneOf, text } from '../../http/params.ts'
import { mayReplaceRule, onProtectedCode } from '../protections/access.ts'
import { protectBranch, unprotectBranch } from '../protections/protect-branch.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { codeRead, onWritableCode } from '../repository/access.ts'
import { rangeOf } from '../repository/names-page.ts'
import { createBranch } from './create-branch.ts'
import { branchEntity } from './entity.ts'
import { describeBranch, getBranch, presentBranches } from './find-branch.ts'
import { mergedBranches } from './merged.ts'
import { deleteMergedBranches } from './tasks.ts'

const hidden = { hidden: true } as const

export const listRepositoryBranches = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches',
  summary: 'List branches',
  ...codeRead(hidden),
  jobToken: true,
  query: {
    search: text().optional(),
    regex: text({ max: 1000 }).optional(),
    sort: oneOf(['name_asc', 'updated_asc', 'updated_desc']).default('name_asc'),
    /** Whether their work is in the default branch. */
    merged: flag().optional(),
    updated_after: instant().optional(),
    updated_before: instant().optional(),
  },
  paginate: { token: 'page_token' },
  response: z.array(branchEntity),
  async handler({ ctx, project, repo, query, page, request }) {
    const range = rangeOf(page)
    // With a search the token counts for nothing (docs/contract/B-resolved §4).
    const { merged, updated_after: from, updated_before: to, ...named } = query
    const asked = {
      ...named,
      ...range,
      ...(query.search ? { after: undefined } : {}),
      committed: { from: secondsOf(from), to: secondsOf(to) },
      at: await mergedFilter(repo, project, merged, request.signal),
    }
    const found = await listBranches(repo, asked, request.signal).catch((error: unknown) => {
      if (!(error instanceof GitError) || error.code !== 'invalid') throw error
      throw badParameters(`${query.regex ? 'regex' : 'page_token'} is invalid`)
    })
    const items = await presentBranches(ctx, project, found.items, request.signal)
    const nextToken = found.more ? items.at(-1)?.name : undefined
    return { items, total: found.total, nextToken }
  },
})

export const getRepositoryBranch = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Read a branch',
  ...codeRead(hidden),
  params: { branch: text() },
  response: branchEntity,
  async handler({ ctx, project, repo, params, request }) {
    const branch = await getBranch(repo, params.branch, request.signal)
    return await describeBranch(ctx, project, branch, request.signal)
  },
})

export const headRepositoryBranch = endpoint({
  method: 'HEAD',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Get whether a branch exists',
  ...codeRead(hidden),
  params: { branch: text() },
  async handler({ repo, params, request }) {
    await getBranch(repo, params.branch, request.signal)
  },
})

export const createRepositoryBranch = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/branches',
  summary: 'Create a branch',
  access: onWritableCode('push_code', hidden),
  body: { branch: text(), ref: text() },
  response: branchEntity,
  async handler({ ctx, project, body }) {
    const branch = await createBranch(ctx, project, body.branch, body.ref)
    return await describeBranch(ctx, project, branch)
  },
})

export const deleteRepositoryBranch = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Delete a branch',
  access: onWritableCode('push_code', hidden),
  params: { branch: text() },
  async handler({ ctx, project, repo, params, request }) {
    const branch = await getBranch(repo, params.branch)
    assertUnmodifiedSince(request, branch.commit.author.date)
    await deleteBranch(ctx, project, branch)
  },
})

export const deleteMergedRepositoryBranches = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/merged_branches',
  summary: 'Delete the branches that are merged into the default branch',
  access: onWritableCode('push_code', hidden),
  response: z.strictObject({ message: z.string() }),
  status: 202,
  async handler({ ctx, project }) {
    const uniqueKey = String(project.id)
    const payload = { project_id: project.id }
    await ctx.work.enqueue(ctx.db, deleteMergedBranches, payload, { uniqueKey })
    return { message: '202 Accepted' }
  },
})

export const protectRepositoryBranch = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/protect',
  summary: 'Protect a branch by roles',
  access: onProtectedCode,
  params: { branch: text() },
  body: {
    developers_can_push: flag().optional(),
    developers_can_merge: flag().optional(),
  },
  conditions: [mayReplaceRule],
  response: branchEntity,
  async handler({ ctx, project, repo, params, body }) {
    const branch = await getBranch(repo, params.branch)
    await protectBranch(ctx, project, branch.name, body)
    return await describeBranch(ctx, project, branch)
  },
})

export const unprotectRepositoryBranch = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/unprotect',
  summary: 'Take the protection of a branch away',
  access: onProtectedCode,
  params: { branch: text() },
  conditions: [mayReplaceRule],
  response: branchEntity,
  async handler({ ctx, project, repo, params }) {
    const branch = await getBranch(repo, params.branch)
    await unprotectBranch(ctx, project, branch.name)
    return await describeBranch(ctx, project, branch)
  },
})

/** Which branches a list is of, where it is asked for those that are merged, or for the others. */
async function mergedFilter(
  repo: Repo,
  project: Project,
  wanted: boolean | undefined,
  signal: AbortSignal,
) {
  if (wanted === undefined) return undefined
  const ids = (await mergedBranches(repo, project, signal)).map(({ id }) => id)
  return { ids, wanted }
}

function secondsOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time) / 1000
}

/** Deletes a branch: the default one never (400), a protected one only by those who may (403). */
async function deleteBranch(ctx: Ctx, project: Project, branch: Branch): Promise<void> {
  if (branch.name === project.default_branch) {
    throw invalidText('The default branch of a project cannot be deleted.')
  }
  const move = { name: `refs/heads/${branch.name}`, oldId: branch.commit.id, newId: noObject }
  await moveRefs(ctx, project, { via: 'api', moves: [move] })
}
