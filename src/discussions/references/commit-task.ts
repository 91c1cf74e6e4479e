import { z } from 'zod'
import { actAs } from '../../access/act-as.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { findCommitId } from '../../markdown/links.ts'
import { findCodeAt } from '../../markdown/queries.ts'
import { inTransaction } from '../../store/transaction.ts'
import { noteMention } from './note-mention.ts'

/** Looks for the commits that a text names, and notes on those that there are where they were mentioned. */
export const mentionCommits = task({
  name: 'references.mention_commits',
  payload: z.object({
    user_id: z.int().nullable(),
    source: z.object({
      type: z.enum(['Issue', 'MergeRequest', 'Commit']),
      id: z.int().nullable(),
      iid: z.int().nullable(),
      commitId: z.string().nullable(),
      project: z.object({ id: z.int(), full_path: z.string() }),
    }),
    commits: z.array(z.object({ project: z.string(), sha: z.string() })),
  }),
  async handler(given: Ctx, { user_id, source, commits }) {
    const ctx = await actAs(given, user_id)
    const viewer = viewerOf(ctx)
    for (const { project: path, sha } of commits) {
      const project = await findCodeAt(ctx.db, viewer, path)
      const id = project && (await findCommitId(ctx, project.id, sha))
      if (!id) continue
      const target = { type: 'Commit', id: null, commitId: id, projectId: project.id } as const
      await inTransaction(ctx, (ctx) => noteMention(ctx, source, target))
    }
  },
})
