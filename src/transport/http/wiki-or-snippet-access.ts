import { findMovedProjectId } from '../../access/find-queries.ts'
import { findVisibleGroup, findVisibleProject } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { findSnippet, type Snippet } from '../../publishing/snippets/access.ts'
import { getSnippetRepository } from '../../publishing/snippets/repository.ts'
import { groupWiki, projectWiki } from '../../publishing/wikis/access.ts'
import { ensureWikiRepository, findWikiRepository, type Wiki } from '../../publishing/wikis/wiki.ts'
import { wikiOrSnippetUpdater } from '../../repositories/refs/wiki-updater.ts'
import { type Admission, type Asked, findMovedProject, movedNotice } from './admission.ts'
import { challenge, notAllowed, noWiki, redirect, rootOf } from './refusal.ts'

const wikiForm = /^(.+)\.wiki$/
const snippetForm = /^(?:(.+)\/)?snippets\/(\d{1,15})$/

/** The wiki or snippet that a git request is about, for callers who may do what they ask (docs/contract/D §3.1). */
export async function admitWikiOrSnippet(ctx: Ctx, asked: Asked): Promise<Admission | undefined> {
  const found = await findWikiOrSnippet(ctx, asked)
  // The setting that lets jobs push is about the code of their project.
  if (found && asked.service === 'receive-pack' && ctx.actor.kind === 'job') {
    throw notAllowed('You are not allowed to push to wikis and snippets with a job token.')
  }
  return found
}

async function findWikiOrSnippet(ctx: Ctx, asked: Asked): Promise<Admission | undefined> {
  const [, wikiPath] = wikiForm.exec(asked.path) ?? []
  if (wikiPath !== undefined) return await admitWiki(ctx, asked, wikiPath)
  const [, projectPath, id] = snippetForm.exec(asked.path) ?? []
  if (id === undefined) return undefined
  const snippet = await findSnippet(ctx, Number(id))
  if (!snippet || !(await isPathOf(ctx, snippet, projectPath))) return undefined
  return await admitSnippet(ctx, asked, snippet)
}

/** Snippets of projects are found below the project, also where it was once. */
async function isPathOf(ctx: Ctx, { project }: Snippet, path: string | undefined) {
  if (path === undefined || project === null) return path === project?.full_path
  return path === project.full_path || project.id === (await findMovedProjectId(ctx.db, path))
}

async function admitWiki(ctx: Ctx, asked: Asked, path: string): Promise<Admission | undefined> {
  const here = await wikiAt(ctx, path)
  const wiki = here ?? (await movedWiki(ctx, asked, path))
  if (!wiki) return undefined
  const reads = asked.service === 'upload-pack'
  if (reads && !wiki.mayRead) throw denied(ctx, 'You are not allowed to read this wiki.')
  if (!reads && wiki.refusal !== undefined) throw denied(ctx, wiki.refusal)
  // Whoever may write may begin with an empty clone.
  const mayBegin = wiki.refusal === undefined
  const target = await (mayBegin ? ensureWikiRepository(ctx, wiki) : findWikiRepository(ctx, wiki))
  if (!target) throw ctx.actor.kind === 'anonymous' ? denied(ctx, '') : noWiki()
  return {
    updater: wikiOrSnippetUpdater(ctx, target),
    notices: here ? [] : [movedNotice(asked, `The wiki of '${path}'`, wiki.path, '.wiki.git')],
  }
}

async function wikiAt(ctx: Ctx, path: string): Promise<Wiki | undefined> {
  // A number would be read as an id.
  if (/^-?\d+$/.test(path)) return undefined
  const project = await findVisibleProject(ctx, path)
  if (project) return projectWiki(ctx, project)
  const group = await findVisibleGroup(ctx, path)
  return group && groupWiki(ctx, group)
}

/** As with code: fetching clients are redirected, pushes are taken, with a message. */
async function movedWiki(ctx: Ctx, asked: Asked, path: string): Promise<Wiki | undefined> {
  const project = await findMovedProject(ctx, path)
  if (!project) return undefined
  const wiki = projectWiki(ctx, project)
  if (asked.service === 'upload-pack' && asked.rest !== undefined && wiki.mayRead) {
    throw redirect(`${rootOf(ctx.config)}/${project.full_path}.wiki.git/${asked.rest}`)
  }
  return wiki
}

async function admitSnippet(ctx: Ctx, asked: Asked, snippet: Snippet): Promise<Admission> {
  const target = await getSnippetRepository(ctx, snippet)
  if (asked.service === 'receive-pack' && target.refusal !== undefined) {
    throw denied(ctx, target.refusal)
  }
  return { updater: wikiOrSnippetUpdater(ctx, target), notices: [] }
}

function denied(ctx: Ctx, reason: string) {
  return ctx.actor.kind === 'anonymous' ? challenge(ctx.config.vendor.prefix) : notAllowed(reason)
}
