import type { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage } from '../../base/page.ts'
import { existing, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import type { userAgentEntity } from '../../identity/user-agents/verbs.ts'
import { filePath } from '../../repositories/files/file-path.ts'
import { getFile } from '../../repositories/files/find-file.ts'
import { answerBlob } from '../../repositories/repository/raw.ts'
import { getSnippet, type Snippet } from './access.ts'
import { filesOf, presentSnippets, type SnippetEntity } from './entity.ts'
import { fileStepsBody } from './input.ts'
import { listSnippetRows, type SnippetFilter } from './queries.ts'
import { getSnippetRepository } from './repository.ts'

/*
 * What the endpoints of people's snippets and those of projects have in common.
 */

export const VISIBILITIES = ['private', 'internal', 'public'] as const

export const factsBody = {
  title: text({ max: 1024 }),
  description: text().nullish(),
  visibility: oneOf(VISIBILITIES),
}

export const changeBody = {
  title: factsBody.title.optional(),
  description: factsBody.description,
  visibility: factsBody.visibility.optional(),
  ...fileStepsBody,
}

export const fileParams = { ref: text({ max: 1024 }), file_path: filePath() }

/** Snippets that the caller may see. */
export async function listSnippets(ctx: Ctx, filter: SnippetFilter, page: OffsetPage) {
  const viewer = viewerOf(ctx)
  const rows = await listSnippetRows(ctx.db, viewer, filter, page)
  return { ...rows, items: await presentSnippets(ctx, rows.items) }
}

export async function presentSnippet(ctx: Ctx, { row, project }: Snippet): Promise<SnippetEntity> {
  const listed = { ...row, project_path: project?.full_path ?? null }
  const [entity] = await presentSnippets(ctx, [listed])
  return existing(entity, 'Snippet')
}

/** A snippet as it stands now, for answers to writes. */
export async function readSnippet(ctx: Ctx, id: number, project?: Project): Promise<SnippetEntity> {
  return await presentSnippet(ctx, await getSnippet(ctx, id, project))
}

/** The bytes of a file of a snippet, the first one without a path. */
export async function rawSnippet(
  ctx: Ctx,
  snippet: Snippet,
  request: RequestFacts,
  wanted?: { readonly ref: string; readonly path: string },
) {
  const repository = await getSnippetRepository(ctx, snippet)
  const repo = ctx.git.open(repository.name)
  const ref = wanted?.ref ?? `refs/heads/${repository.defaultBranch ?? 'main'}`
  const path = wanted?.path ?? filesOf(snippet.row)[0] ?? ''
  const file = await getFile(repo, ref, path, undefined, request.signal)
  const headers = { 'Content-Disposition': contentDisposition('inline', file.name) }
  return await answerBlob(repo, file.blobId, request, headers)
}

/** From where a snippet was made; 404 when that is not known. */
export function userAgentOf({ row }: Snippet): z.input<typeof userAgentEntity> {
  if (row.user_agent === null) throw notFound('UserAgentDetail')
  return {
    user_agent: row.user_agent,
    ip_address: row.ip_address ?? '',
    akismet_submitted: false,
  }
}

/** What the caller's program calls itself. */
export function userAgentIn(request: RequestFacts): string | null {
  const header = request.headers['user-agent']
  return typeof header === 'string' ? header.slice(0, 1000) : null
}
