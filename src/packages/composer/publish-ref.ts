import type { Project } from '../../access/subjects.ts'
import { badRequest, invalidText, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readBlob } from '../../git/objects/blob.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { findTreeEntry } from '../../git/objects/tree.ts'
import { publishFile } from '../registry/publish.ts'
import { isComposerName, versionOfBranch, versionOfTag } from './names.ts'
import { isNameElsewhere } from './queries.ts'

const MOST_JSON = 1024 * 1024

/** What a version of a package is: the commit, and what its composer.json says. */
export interface ComposerMetadata {
  readonly sha: string
  readonly json: Readonly<Record<string, unknown>>
}

/** Publishes the commit of a tag or branch; a version that is there moves to it. */
export async function publishRef(
  ctx: Ctx,
  project: Project,
  ref: { readonly tag?: string | undefined; readonly branch?: string | undefined },
): Promise<void> {
  const { tag, branch } = ref
  if ((tag === undefined) === (branch === undefined)) {
    throw badRequest('tag, branch are missing, exactly one parameter must be provided')
  }
  const full = tag === undefined ? `refs/heads/${branch}` : `refs/tags/${tag}`
  const sha = await commitOf(ctx, project, full)
  const json = await readComposerJson(ctx, project, sha)
  const name = String(json.name ?? '')
  if (!isComposerName(name.toLowerCase())) throw invalidText('Validation failed: Name is invalid')
  const version = tag === undefined ? versionOfBranch(branch ?? '') : versionOfTag(tag)
  await publishFile(ctx, project, {
    type: 'composer',
    name,
    nameKey: name.toLowerCase(),
    version,
    metadata: { sha, json } satisfies ComposerMetadata,
    async check(db) {
      if (await isNameElsewhere(db, project.id, name.toLowerCase())) {
        throw invalidText('Validation failed: Name is already taken by another project')
      }
    },
  })
}

async function commitOf(ctx: Ctx, project: Project, ref: string): Promise<string> {
  try {
    return (await readCommit(ctx.git.open(project.id), ref)).id
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw ['not_found', 'invalid', 'empty'].includes(error.code) ? notFound('Ref') : error
  }
}

async function readComposerJson(ctx: Ctx, project: Project, sha: string) {
  const repo = ctx.git.open(project.id)
  const entry = await findTreeEntry(repo, { ref: sha, path: 'composer.json' })
  if (entry?.type !== 'blob') throw unreadable('The file composer.json was not found.')
  try {
    const { content } = await readBlob(repo, entry.id, { limit: MOST_JSON })
    const value: unknown = JSON.parse(content.toString('utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch (error) {
    if (error instanceof GitError && error.code === 'too_large') {
      throw unreadable('The file composer.json is too large.')
    }
  }
  throw unreadable('The file composer.json is not valid JSON.')
}

function unreadable(message: string): Problem {
  return new Problem('invalid', 422, { message })
}
