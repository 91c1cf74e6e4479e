import { GitError } from '../../git/error.ts'
import { readBlob } from '../../git/objects/blob.ts'
import { readTree } from '../../git/objects/tree.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId, TreeEntry } from '../../git/types.ts'
import { hyphened, type PageName, pageOf } from './page-name.ts'

/** A page that is there. */
export interface Page extends PageName {
  readonly blobId: ObjectId
}

const files: ReadonlySet<string> = new Set(['100644', '100755'])

function asPage(entry: TreeEntry): Page | undefined {
  const name = files.has(entry.mode) ? pageOf(entry.path) : undefined
  return name && { ...name, blobId: entry.id }
}

/** All pages of a commit, by slug; one for each slug. */
export async function listPages(
  repo: Repo,
  commit: ObjectId,
  signal?: AbortSignal,
): Promise<Page[]> {
  const { entries } = await readTree(repo, { ref: commit, recursive: true }, signal)
  const pages = new Map<string, Page>()
  for (const entry of entries) {
    const page = asPage(entry)
    if (page && !pages.has(page.slug)) pages.set(page.slug, page)
  }
  return [...pages.values()].toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
}

/** Folders that look alike in slugs, `a b` and `a-b`: looked into one after the other, up to this many. */
const mostFolders = 20

/**
 * The page of a slug, or undefined. Goes down folder by folder: a wiki may hold thousands of pages, and names with spaces
 * stand for the same slug as those with hyphens.
 */
export async function findPage(
  repo: Repo,
  commit: ObjectId,
  slug: string,
  signal?: AbortSignal,
): Promise<Page | undefined> {
  const parts = hyphened(slug).split('/')
  let folders = ['']
  for (const part of parts.slice(0, -1)) {
    const below = await Promise.all(
      folders.map((folder) => entriesOf(repo, commit, folder, signal)),
    )
    folders = below
      .flat()
      .filter((entry) => entry.type === 'tree' && hyphened(entry.name) === part)
      .map((entry) => entry.path)
      .slice(0, mostFolders)
  }
  for (const folder of folders) {
    const pages = (await entriesOf(repo, commit, folder, signal)).flatMap(
      (entry) => asPage(entry) ?? [],
    )
    const found = pages.find((page) => page.slug === parts.join('/'))
    if (found) return found
  }
  return undefined
}

async function entriesOf(
  repo: Repo,
  commit: ObjectId,
  path: string,
  signal: AbortSignal | undefined,
): Promise<readonly TreeEntry[]> {
  try {
    return (await readTree(repo, { ref: commit, path }, signal)).entries
  } catch (error) {
    // A name that is not UTF-8 can be listed, not looked into.
    if (error instanceof GitError && (error.code === 'not_found' || error.code === 'invalid')) {
      return []
    }
    throw error
  }
}

/** Pages larger than this are not read whole. */
const readLimit = 64 * 1024 * 1024

/** The text of a page; bytes that are not UTF-8 are replaced. */
export async function readPageText(
  repo: Repo,
  page: Pick<Page, 'blobId'>,
  limit = readLimit,
): Promise<string> {
  const { content } = await readBlob(repo, page.blobId, { limit })
  return content.toString('utf8')
}
