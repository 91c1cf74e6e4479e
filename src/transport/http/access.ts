import { mayInProject, maySee } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { mayPushSomewhere, refusalOfPushes } from '../../repositories/refs/access.ts'
import { projectUpdater } from '../../repositories/refs/ref-updater.ts'
import type { Service } from '../advertisements.ts'
import { mayPushAsJob } from '../job-push.ts'
import { type Admission, type Asked, findMovedProject, movedNotice } from './admission.ts'
import type { ProjectsByPush } from './create-by-push.ts'
import { challenge, noProject, notAllowed, redirect, rootOf } from './refusal.ts'
import { admitWikiOrSnippet } from './wiki-or-snippet-access.ts'

/**
 * The project, wiki or snippet that a git request is about, for callers who may do what they ask (docs/contract/D §3.2).
 * Anonymous callers learn nothing but that they should sign in.
 */
export async function admit(ctx: Ctx, asked: Asked, byPush: ProjectsByPush): Promise<Admission> {
  // Nobody pushes without signing in, whatever is there.
  if (asked.service === 'receive-pack' && ctx.actor.kind === 'anonymous') {
    throw challenge(ctx.config.vendor.prefix)
  }
  const found = (await findHere(ctx, asked.path)) ?? (await findMoved(ctx, asked))
  if (found) return admitted(ctx, await assertMay(ctx, found, asked.service))
  const other = await admitWikiOrSnippet(ctx, asked)
  if (other) return other
  if (ctx.actor.kind === 'anonymous') throw challenge(ctx.config.vendor.prefix)
  const mayCreate =
    asked.service === 'receive-pack' && ctx.actor.kind === 'user' && !asked.path.endsWith('.wiki')
  const created = mayCreate ? await byPush.create(ctx, asked.path) : undefined
  if (!created) throw noProject()
  return admitted(ctx, { project: created, notices: [] })
}

const noPush = 'You are not allowed to push code to this project.'

interface Found {
  readonly project: Project
  readonly notices: readonly string[]
}

function admitted(ctx: Ctx, found: Found): Admission {
  return { ...found, updater: projectUpdater(ctx, found.project) }
}

async function findHere(ctx: Ctx, path: string): Promise<Found | undefined> {
  const project = await findVisibleProject(ctx, path)
  return project && { project, notices: [] }
}

/** Fetching clients are redirected, which git shows its user; pushes are taken, with a message (docs/contract/D §3.1). */
async function findMoved(ctx: Ctx, asked: Asked): Promise<Found | undefined> {
  const project = await findMovedProject(ctx, asked.path)
  if (!project || !maySee(ctx.actor, project)) return undefined
  const isRedirected = asked.service === 'upload-pack' && asked.rest !== undefined
  if (isRedirected && mayInProject(ctx.actor, project, 'download_code')) {
    throw redirect(`${rootOf(ctx.config)}/${project.full_path}.git/${asked.rest}`)
  }
  return {
    project,
    notices: [movedNotice(asked, `Project '${asked.path}'`, project.full_path, '.git')],
  }
}

async function assertMay(ctx: Ctx, found: Found, service: Service): Promise<Found> {
  const { project } = found
  if (service === 'receive-pack' && !mayPushAsJob(ctx.actor, project)) {
    throw notAllowed('You are not allowed to push code to this project with a job token.')
  }
  const may =
    service === 'upload-pack'
      ? mayInProject(ctx.actor, project, 'download_code')
      : await mayPushSomewhere(ctx, project)
  if (may) return found
  if (ctx.actor.kind === 'anonymous') throw challenge(ctx.config.vendor.prefix)
  if (service === 'upload-pack') {
    throw notAllowed('You are not allowed to download code from this project.')
  }
  throw notAllowed(refusalOfPushes(ctx, project) ?? noPush)
}
