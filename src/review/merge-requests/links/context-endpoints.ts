import { z } from 'zod'
import type { Project } from '../../../access/subjects.ts'
import { badRequest } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { csv, text } from '../../../http/params.ts'
import { commitEntity, presentCommit } from '../../../repositories/commits/entity.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { onMergeRequest } from '../access.ts'
import { path } from '../path.ts'
import { deleteContextShas, insertContextShas, listContextShas } from './block-queries.ts'

const at = `${path}/context_commits` as const
const body = { commits: csv(text({ max: 64 }), { max: 100 }) }

async function show(ctx: Ctx, project: Project, shas: readonly string[]) {
  const found = shas.length === 0 ? [] : await readCommits(ctx.git.open(project.id), shas)
  return found.map((commit) => presentCommit(ctx, project, commit))
}

export const listContextCommits = endpoint({
  method: 'GET',
  path: at,
  summary: 'List the commits that are shown beside those of a merge request',
  access: onMergeRequest(),
  response: z.array(commitEntity),
  async handler({ ctx, project, mergeRequest: row }) {
    return show(ctx, project, await listContextShas(ctx.db, row.id))
  },
})

export const addContextCommits = endpoint({
  method: 'POST',
  path: at,
  summary: 'Show commits of the project beside those of a merge request',
  access: onMergeRequest('edit_merge_request', { signedIn: true }),
  body,
  response: z.array(commitEntity),
  async handler({ ctx, project, mergeRequest: row, body }) {
    const shown = await readable(() => show(ctx, project, body.commits))
    const ids = shown.map((commit) => commit.id)
    if (ids.length < body.commits.length) throw unknown()
    await inTransaction(ctx, async ({ db, now }) => {
      const known = new Set(await listContextShas(db, row.id))
      const twice = ids.filter((sha) => known.has(sha))
      if (twice.length > 0) {
        throw badRequest(`Context commits: ${JSON.stringify(twice)} are already created`)
      }
      if (ids.length > 0) await insertContextShas(db, row.id, ids, now())
    })
    return shown
  },
})

const unknown = () => badRequest("One or more context commits' sha is not valid.")

/** 400 for what is no id of a commit. */
async function readable<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw unknown()
  }
}

export const deleteContextCommits = endpoint({
  method: 'DELETE',
  path: at,
  summary: 'Show commits beside those of a merge request no more',
  access: onMergeRequest('edit_merge_request', { signedIn: true }),
  query: body,
  async handler({ ctx, mergeRequest: row, query }) {
    await inTransaction(ctx, async ({ db }) => {
      const known = new Set(await listContextShas(db, row.id))
      if (query.commits.length === 0 || query.commits.some((sha) => !known.has(sha))) {
        throw badRequest('The context commits could not be deleted.')
      }
      await deleteContextShas(db, row.id, query.commits)
    })
  },
})
