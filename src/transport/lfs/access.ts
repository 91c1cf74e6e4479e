import type { Actor } from '../../access/actor.ts'
import { mayUseGit } from '../../access/authentication/sign-in-basic.ts'
import { mayInProject, maySee } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { Problem, type ProblemCode } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isLfsOn } from '../../repositories/lfs/objects.ts'
import { mayPushSomewhere } from '../../repositories/refs/access.ts'
import { claimRoom, findRoom, refusalOfPush } from '../../repositories/size-limit/limit.ts'
import { findMovedProject } from '../http/admission.ts'
import { mayPushAsJob } from '../job-push.ts'

/** A refusal in the words of LFS. */
export function refusal(
  code: ProblemCode,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  return new Problem(code, status, { message }, { headers })
}

/** 401 with both challenges: git-lfs looks at its own, other clients at the common one (docs/contract/D §3.8). */
export function lfsChallenge(realm: string): Problem {
  return refusal('unauthorized', 401, 'Credentials needed', {
    'LFS-Authenticate': `Basic realm="${realm}"`,
    'WWW-Authenticate': `Basic realm="${realm}"`,
  })
}

/** The project whose large files a request is about. Anonymous callers learn nothing but that they should sign in. */
export async function getLfsProject(ctx: Ctx, path: string): Promise<Project> {
  const project = (await findVisibleProject(ctx, path)) ?? (await findMoved(ctx, path))
  if (!project) {
    if (ctx.actor.kind === 'anonymous') throw lfsChallenge(ctx.config.vendor.prefix)
    throw refusal('not_found', 404, 'Project not found')
  }
  assertMayRead(ctx, project)
  if (!isLfsOn(project)) {
    throw refusal('unavailable', 501, 'Git LFS is not enabled for this project.')
  }
  return project
}

async function findMoved(ctx: Ctx, path: string): Promise<Project | undefined> {
  const project = await findMovedProject(ctx, path)
  return project && maySee(ctx.actor, project) ? project : undefined
}

function assertMayRead(ctx: Ctx, project: Project): void {
  if (mayInProject(ctx.actor, project, 'download_code')) return
  if (ctx.actor.kind === 'anonymous') throw lfsChallenge(ctx.config.vendor.prefix)
  throw refusal('forbidden', 403, 'You are not allowed to download code from this project.')
}

/** Refuses whoever may not push to the project: with 401 where signing in would help. */
export async function assertMayWrite(ctx: Ctx, project: Project): Promise<void> {
  if (ctx.actor.kind === 'anonymous') throw lfsChallenge(ctx.config.vendor.prefix)
  assertScope(ctx.actor)
  const mayPush = await mayPushSomewhere(ctx, project)
  if (mayPush && mayPushAsJob(ctx.actor, project)) return
  throw refusal('forbidden', 403, 'You are not allowed to push code to this project.')
}

function assertScope(actor: Actor): void {
  if (mayUseGit(actor, 'push')) return
  const scopes = 'write_repository or api'
  throw refusal('forbidden', 403, `Your token lacks the scope for this: ${scopes} is needed.`)
}

/** Refuses large files for which the repository, as it was measured last, has no room: in the words of a push. */
export async function assertRoom(
  ctx: Ctx,
  project: Project,
  objects: readonly { readonly size: number }[],
): Promise<void> {
  if (objects.length === 0) return
  const room = await findRoom(ctx, project)
  const bytes = objects.reduce((sum, { size }) => sum + size, 0)
  assertAllowed(room && refusalOfPush(room, bytes))
}

/** Keeps room for a large file that comes now, until `leaveBytes` with the same holder; refuses it where there is none. */
export async function takeRoom(
  ctx: Ctx,
  project: Project,
  claim: { readonly holder: object; readonly bytes: number },
): Promise<void> {
  assertAllowed(await claimRoom(ctx, project, claim, refusalOfPush))
}

function assertAllowed(reason: string | undefined): void {
  if (reason !== undefined) throw refusal('not_acceptable', 406, reason)
}
