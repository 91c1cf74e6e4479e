import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { filledText, flag, text } from '../../http/params.ts'
import { onPush, pushesBranch } from '../repository/access.ts'
import { getStartProject } from './access.ts'
import { commitBody, readCommitParams } from './commit-params.ts'
import { createCommit } from './create-commit.ts'
import { describeCommit, getCommit } from './describe-commit.ts'
import { commitDetailEntity, commitEntity, presentCommit } from './entity.ts'
import { type PickInput, pickCommit } from './pick-commit.ts'

/** Largest body of a commit (docs/contract/B-resolved §2.2). */
const COMMIT_BODY = 300 * 1024 * 1024
/** From here on only a few requests are served in a minute. */
const LARGE_BODY = 20 * 1024 * 1024

export const createRepositoryCommit = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits',
  summary: 'Create a commit of several file actions',
  access: onPush(),
  body: commitBody,
  maxBody: COMMIT_BODY,
  conditions: [pushesBranch],
  response: commitDetailEntity,
  async handler({ ctx, project, body, request }) {
    if (Number(request.headers['content-length'] ?? 0) > LARGE_BODY) {
      request.countAgainst({ name: 'large_commit', perMinute: 6, scope: 'caller' }, '')
    }
    const { startProject, authorName, authorEmail, ...input } = readCommitParams(body)
    const { commit } = await createCommit(ctx, project, {
      ...input,
      force: body.force,
      author: { name: authorName, email: authorEmail },
      startProject:
        startProject === undefined ? undefined : await getStartProject(ctx, project, startProject),
    })
    return await describeCommit(ctx, project, commit, { stats: body.stats })
  },
})

const pickedEntity = z.union([commitEntity, z.strictObject({ dry_run: z.literal('success') })])

export const cherryPickCommit = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/cherry_pick',
  summary: 'Apply a commit to a branch',
  access: onPush(),
  params: { sha: text() },
  body: { branch: filledText(), dry_run: flag().default(false), message: text().optional() },
  conditions: [pushesBranch],
  response: pickedEntity,
  async handler({ ctx, project, params, body }) {
    const { branch, message, dry_run: dryRun } = body
    return await pick(ctx, project, params.sha, { kind: 'cherry-pick', branch, message, dryRun })
  },
})

export const revertCommit = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/revert',
  summary: 'Take a commit back on a branch',
  access: onPush(),
  params: { sha: text() },
  body: { branch: filledText(), dry_run: flag().default(false) },
  conditions: [pushesBranch],
  response: pickedEntity,
  async handler({ ctx, project, params, body }) {
    const { branch, dry_run: dryRun } = body
    return await pick(ctx, project, params.sha, { kind: 'revert', branch, dryRun })
  },
})

async function pick(
  ctx: Ctx,
  project: Project,
  sha: string,
  input: Omit<PickInput, 'commit'>,
): Promise<Answer<z.input<typeof pickedEntity>>> {
  const repo = ctx.git.open(project.id)
  const commit = await getCommit(repo, sha)
  const id = await pickCommit(ctx, project, { ...input, commit })
  if (id === undefined) return new Answer({ dry_run: 'success' as const }, { status: 200 })
  return new Answer(presentCommit(ctx, project, await getCommit(repo, id), { trailers: true }))
}
