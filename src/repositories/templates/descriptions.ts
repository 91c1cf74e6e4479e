import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readContentAt } from '../../git/history/file.ts'
import { readTree } from '../../git/objects/tree.ts'
import { ifFound } from '../repository/missing.ts'

const FOLDERS: Readonly<Record<string, string>> = {
  issues: 'issue_templates',
  merge_requests: 'merge_request_templates',
}
const MOST = 1000
const MAX_BYTES = 1024 * 1024

/** Where a project keeps descriptions of this type, in the order in which they are looked for. */
function foldersOf(ctx: Ctx, type: string): string[] {
  const folder = FOLDERS[type]
  return folder === undefined ? [] : ctx.config.vendor.folders.map((one) => `${one}/${folder}`)
}

/** Names of the descriptions that a project keeps for new issues or merge requests, on its default branch. */
export async function listDescriptions(
  ctx: Ctx,
  project: Project,
  type: string,
  signal: AbortSignal,
): Promise<string[]> {
  if (project.default_branch === null) return []
  const repo = ctx.git.open(project.id)
  const found = new Set<string>()
  for (const path of foldersOf(ctx, type)) {
    const options = { ref: `refs/heads/${project.default_branch}`, path, limit: MOST }
    const listing = await ifFound(readTree(repo, options, signal))
    for (const entry of listing?.entries ?? []) {
      if (entry.type === 'blob' && entry.name.endsWith('.md')) found.add(entry.name.slice(0, -3))
    }
  }
  return [...found].sort()
}

/** The text of one of them. */
export async function readDescription(
  ctx: Ctx,
  project: Project,
  type: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly content: string } | undefined> {
  if (project.default_branch === null || name.includes('/')) return undefined
  const repo = ctx.git.open(project.id)
  for (const folder of foldersOf(ctx, type)) {
    const options = {
      ref: `refs/heads/${project.default_branch}`,
      path: `${folder}/${name}.md`,
      limit: MAX_BYTES,
    }
    const content = await ifFound(readContentAt(repo, options, signal))
    if (content) return { name, content: content.toString('utf8') }
  }
  return undefined
}
