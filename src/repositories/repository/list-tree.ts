import type { NamesPage, Paged } from '../../base/page.ts'
import { badParameters, notFound } from '../../base/problem.ts'
import { GitError } from '../../git/error.ts'
import { cleanPath, isObjectId } from '../../git/names.ts'
import { readTree, readWholeTree, type TreePage } from '../../git/objects/tree.ts'
import type { Repo } from '../../git/repo.ts'
import type { TreeEntry } from '../../git/types.ts'
import { JsonText } from '../../http/endpoint.ts'
import { isMissing } from './missing.ts'
import { rangeOf } from './names-page.ts'

interface TreeQuery {
  readonly ref: string
  readonly path: string
  readonly recursive: boolean
}

/** A page of a folder's entries, with what the next page's link needs (docs/contract/B-resolved §1.1). */
export async function listTree(
  repo: Repo,
  query: TreeQuery,
  page: NamesPage,
  signal: AbortSignal,
): Promise<Paged<TreeEntry>> {
  const listing = await read(repo, query, page, signal)
  const nextToken =
    page.kind === 'token' && listing.more && listing.last !== undefined
      ? tokenOfPath(listing.last)
      : undefined
  return { items: listing.entries, total: listing.total, nextToken }
}

async function read(
  repo: Repo,
  query: TreeQuery,
  page: NamesPage,
  signal: AbortSignal,
): Promise<TreePage> {
  const after =
    page.kind === 'token' && page.after !== undefined ? readTreeToken(page.after) : undefined
  try {
    return await readTree(repo, { ...query, ...rangeOf(page), after }, signal)
  } catch (error) {
    // An entry that went meanwhile can't be followed.
    const isToken = isMissing(error) && error.code === 'invalid' && after !== undefined
    if (isToken && isPath(query.path) && (await isReadable(repo, query))) {
      throw badParameters('page_token is invalid')
    }
    throw refusalOf(error, query)
  }
}

function refusalOf(error: unknown, query: TreeQuery): unknown {
  if (!isMissing(error)) return error
  const isPathWrong = error.detail.path !== undefined || !isPath(query.path)
  return notFound(isPathWrong ? 'invalid revision or path' : 'Tree')
}

/** Everything below a folder, as the engine writes it. */
export async function listWholeTree(
  repo: Repo,
  query: TreeQuery,
  signal: AbortSignal,
): Promise<JsonText> {
  try {
    return new JsonText(await readWholeTree(repo, query, signal))
  } catch (error) {
    throw refusalOf(error, query)
  }
}

/** Whether a text can be the path of an entry. */
export function isPath(path: string): boolean {
  try {
    cleanPath(path)
    return true
  } catch {
    return false
  }
}

async function isReadable(repo: Repo, query: TreeQuery): Promise<boolean> {
  return await readTree(repo, { ...query, limit: 1 }).then(
    () => true,
    (error: unknown) => !(error instanceof GitError),
  )
}

/**
 * The token of a tree page: the path of its last entry, since object ids repeat in a recursive listing (spec
 * B-resolved §1.1). The dot keeps it apart from the ids that older clients send.
 */
function tokenOfPath(path: string): string {
  return `p.${Buffer.from(path, 'utf8').toString('base64url')}`
}

/** The path or object id that a token stands for. */
function readTreeToken(token: string): string {
  if (isObjectId(token)) return token
  if (!token.startsWith('p.')) throw badParameters('page_token is invalid')
  return Buffer.from(token.slice(2), 'base64url').toString('utf8')
}
