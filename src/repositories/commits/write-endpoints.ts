import { z } from 'zod'
import { mayInProject } from '../../access/decide.ts'
import { getVisibleProject, type Project } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { filledText, flag, text } from '../../http/params.ts'
import { assertMayPush, onPush } from '../repository/access.ts'
import { areRelated } from '../repository/fork-network.ts'
import { commitBody, readCommitParams } from './commit-params.ts'
import { createCommit } from './create-commit.ts'
import { describeCommit, getCommit } from './describe-commit.ts'
import { commitDetailEntity, commitEntity, presentCommit } from './entity.ts'
import { type PickWish, pickCommit } from './pick-commit.ts'

const tags = ['commits'] as const
/** Largest body of a commit (docs/contract/B-resolved §2.2). */
const COMMIT_BODY = 300 * 1024 * 1024
/** From here on only a few requests are served in a minute. */
const LARGE_BODY = 20 * 1024 * 1024

export const createRepositoryCommit = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits',
  summary: 'Create a commit of several file actions',
  tags,
  access: onPush(),
  body: commitBody,
  maxBody: COMMIT_BODY,
  response: commitDetailEntity,
  status: 201,
  async handler({ ctx, project, body, request }) {
    if (Number(request.headers['content-length'] ?? 0) > LARGE_BODY) {
      request.countAgainst({ name: 'large_commit', perMinute: 6, scope: 'caller' }, '')
    }
    await assertMayPush(ctx, project, body.branch)
    const { startProject, authorName, authorEmail, ...wish } = readCommitParams(body)
    const { commit } = await createCommit(ctx, project, {
      ...wish,
      force: body.force,
      author: { name: authorName, email: authorEmail },
      startProject:
        startProject === undefined ? undefined : await getStartProject(ctx, project, startProject),
    })
    return await describeCommit(ctx, project, commit, { stats: body.stats })
  },
})

/** Another project to start from: 404 when hidden, 403 outside the fork network (docs/contract/B-resolved §2.2). */
async function getStartProject(
  ctx: Ctx,
  project: Project,
  idOrPath: string,
): Promise<Project | undefined> {
  const start = await getVisibleProject(ctx, idOrPath)
  if (start.id === project.id) return undefined
  if (!(await areRelated(ctx, project, start))) {
    const name = `${start.namespace_full_name} / ${start.name}`
    throw forbidden(`Project is not included in the fork network for ${name}`)
  }
  if (!mayInProject(ctx.actor, start, 'download_code')) throw forbidden()
  return start
}

const pickedEntity = z.union([commitEntity, z.strictObject({ dry_run: z.literal('success') })])

export const cherryPickCommit = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/cherry_pick',
  summary: 'Apply a commit to a branch',
  tags,
  access: onPush(),
  params: { sha: text() },
  body: { branch: filledText(), dry_run: flag().default(false), message: text().optional() },
  response: pickedEntity,
  status: 201,
  async handler({ ctx, project, params, body }) {
    const { branch, message, dry_run: dryRun } = body
    return await pick(ctx, project, params.sha, { kind: 'cherry-pick', branch, message, dryRun })
  },
})

export const revertCommit = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/revert',
  summary: 'Take a commit back on a branch',
  tags,
  access: onPush(),
  params: { sha: text() },
  body: { branch: filledText(), dry_run: flag().default(false) },
  response: pickedEntity,
  status: 201,
  async handler({ ctx, project, params, body }) {
    const { branch, dry_run: dryRun } = body
    return await pick(ctx, project, params.sha, { kind: 'revert', branch, dryRun })
  },
})

async function pick(
  ctx: Ctx,
  project: Project,
  sha: string,
  wish: Omit<PickWish, 'commit'>,
): Promise<Answer<z.input<typeof pickedEntity>>> {
  await assertMayPush(ctx, project, wish.branch)
  const repo = ctx.git.open(project.id)
  const commit = await getCommit(repo, sha)
  const id = await pickCommit(ctx, project, { ...wish, commit })
  if (id === undefined) return new Answer({ dry_run: 'success' as const }, { status: 200 })
  return new Answer(presentCommit(ctx, project, await getCommit(repo, id), { trailers: true }))
}
